/** Colors of texts and backgrounds, as other editors of the format name them. `theme.css` has their values. */
export const COLORS = [
  "default",
  "gray",
  "brown",
  "red",
  "orange",
  "yellow",
  "green",
  "blue",
  "purple",
  "pink",
] as const;

export type Color = (typeof COLORS)[number];
export type ColorKind = "textColor" | "backgroundColor";
