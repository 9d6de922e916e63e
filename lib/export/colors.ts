/** The editor's named colors, dark enough for text, and light enough behind text: contrast of 4.5 and more. */
const COLORS: Readonly<Record<string, { readonly text: string; readonly background: string }>> = {
  gray: { text: "#6b6a67", background: "#ebeced" },
  brown: { text: "#64473a", background: "#e9e5e3" },
  red: { text: "#c0262b", background: "#fbe4e4" },
  orange: { text: "#a8510a", background: "#f6e9d9" },
  yellow: { text: "#876208", background: "#fbf3db" },
  green: { text: "#3b6a52", background: "#ddedea" },
  blue: { text: "#0b5f8a", background: "#ddebf1" },
  purple: { text: "#6940a5", background: "#eae4f2" },
  pink: { text: "#ad1a72", background: "#f4dfeb" },
};

/** A color as `#rrggbb`; undefined for the default and for whatever is not a color. */
export function colorOf(value: unknown, where: "text" | "background"): string | undefined {
  if (typeof value !== "string") return undefined;
  if (Object.hasOwn(COLORS, value)) return COLORS[value]?.[where];
  return /^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined;
}
