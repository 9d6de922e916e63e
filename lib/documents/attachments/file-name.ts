/** Characters. */
const NAME_MAX_LENGTH = 255;

/** The name of an uploaded file without folders, control characters and what changes the direction of text. */
export function cleanFileName(sent: string): string {
  const base = sent.split(/[/\\]/).at(-1) ?? "";
  const clean = base.replaceAll(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, "").trim();
  return clean.slice(-NAME_MAX_LENGTH).toWellFormed() || "file";
}
