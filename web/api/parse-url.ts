/** Undefined for an invalid address. `URL.parse` is missing in browsers of 2024. */
export const parseUrl = (address: string, base?: string): URL | undefined =>
  URL.canParse(address, base) ? new URL(address, base) : undefined;
