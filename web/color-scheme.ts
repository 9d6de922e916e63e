/** Light or dark, or what the device prefers. */
export const COLOR_SCHEMES = ["auto", "light", "dark"] as const;
export type ColorScheme = (typeof COLOR_SCHEMES)[number];
export type ShownColorScheme = Exclude<ColorScheme, "auto">;

/** The key of the choice on this device, and the attribute of the page: both are Mantine's. */
export const COLOR_SCHEME_KEY = "mantine-color-scheme-value";
const ATTRIBUTE = "data-mantine-color-scheme";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

/** What was chosen on this device. */
export function chosenColorScheme(): ColorScheme {
  const stored = localStorage.getItem(COLOR_SCHEME_KEY);
  return COLOR_SCHEMES.find((scheme) => scheme === stored) ?? "auto";
}

/** What is shown. */
export function shownColorScheme(): ShownColorScheme {
  const chosen = chosenColorScheme();
  if (chosen !== "auto") return chosen;
  return prefersDark.matches ? "dark" : "light";
}

/** Shows the interface in a color scheme, and remembers it on this device. */
export function setColorScheme(scheme: ColorScheme): void {
  localStorage.setItem(COLOR_SCHEME_KEY, scheme);
  showColorScheme();
}

/** Calls the listener after each change of what is chosen or shown. Returns how to end that. */
export function onColorSchemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows the color scheme of this device, also after it is changed in another tab or by the system. */
export function startColorScheme(): void {
  showColorScheme();
  prefersDark.addEventListener("change", showColorScheme);
  addEventListener("storage", ({ key }) => {
    if (key === COLOR_SCHEME_KEY) showColorScheme();
  });
}

function showColorScheme(): void {
  document.documentElement.setAttribute(ATTRIBUTE, shownColorScheme());
  for (const listener of listeners) listener();
}
