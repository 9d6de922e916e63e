import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Ports } from "../../platform/ports.ts";

/** Footer used if the theme file has none. Reference 7.2. */
export const BUILT_IN_FOOTER = {
  default: {
    externalLinks: [],
    legalLinks: [],
    bottomInformation: {
      label: "Made with Weft, free software under the",
      link: { label: "MIT licence", href: "https://opensource.org/license/mit" },
    },
  },
  de: {
    legalLinks: [],
    bottomInformation: {
      label: "Gemacht mit Weft, freier Software unter der",
      link: { label: "MIT-Lizenz", href: "https://opensource.org/license/mit" },
    },
  },
  fr: {
    legalLinks: [],
    bottomInformation: {
      label: "Propulsé par Weft, un logiciel libre sous",
      link: { label: "licence MIT", href: "https://opensource.org/license/mit" },
    },
  },
} as const;

/** Theme for clients: free-form; fields of the theme file override the built-in ones. Reference 7.2. */
export type Theme = Readonly<Record<string, unknown>>;

/** Returns the theme and rereads its file when the cache expires. */
export interface ThemeReader {
  current(): Promise<Theme>;
}

/** Maximum size of the theme file, bytes; enough for embedded logos. */
export const THEME_BYTES_MAX = 1024 * 1024;

const BUILT_IN: Theme = { footer: BUILT_IN_FOOTER };

/**
 * Reads the theme file named by the settings. If it is missing, too large or not a JSON object, logs a warning and
 * uses the built-in theme.
 */
export function themeReader(
  { clock, log }: Pick<Ports, "clock" | "log">,
  { path, cacheMs }: { readonly path: string | undefined; readonly cacheMs: number },
): ThemeReader {
  if (path === undefined) return { current: async () => BUILT_IN };
  let kept: { readonly theme: Promise<Theme>; readonly until: number } | undefined;
  const read = async (): Promise<Theme> => {
    try {
      return { ...BUILT_IN, ...(await readTheme(path)) };
    } catch (error) {
      log.warn("reading the theme file failed; the built-in theme is used", { path, error });
      return BUILT_IN;
    }
  };
  return {
    current: () => {
      const now = clock.now();
      if (kept === undefined || now >= kept.until) kept = { theme: read(), until: now + cacheMs };
      return kept.theme;
    },
  };
}

async function readTheme(path: string): Promise<Theme> {
  // Opening a pipe must not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error("it is not a file");
    if (stat.size > THEME_BYTES_MAX) throw new Error(`it is larger than ${THEME_BYTES_MAX} bytes`);
    const theme: unknown = JSON.parse(await file.readFile("utf8"));
    if (typeof theme !== "object" || theme === null || Array.isArray(theme))
      throw new Error("it does not contain a JSON object");
    return theme as Theme;
  } finally {
    await file.close();
  }
}
