/** The nonce of the page's content security policy for styles; empty in development. */
export const styleNonce = (): string => document.getElementById("nonce")?.nonce ?? "";

/** Gives the nonce to the package with which Mantine's dialogs stop the page from scrolling: it reads this name. */
export function shareStyleNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() });
}
