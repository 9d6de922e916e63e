import { isIP } from "node:net";
import { textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i;
const DOMAIN_MAX_CHARS = 253;
const ARCHIVE = /\.(?:zip|tar|tgz|tbz2?|txz|gz|bz2|xz|7z|rar)$/i;

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function isRange(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const most = { 4: 32, 6: 128 }[isIP(address)];
  return more.length === 0 && most !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

/** The type of a text that is not the name of a file or folder. */
export function kindOfText(text: string): "cidr" | "ip" | "url" | "domain" | "string" {
  if (isRange(text)) return "cidr";
  if (isIP(text) !== 0) return "ip";
  if (isUrl(text)) return "url";
  return text.length <= DOMAIN_MAX_CHARS && DOMAIN.test(text) ? "domain" : "string";
}

export const detectionFunctions = {
  is_url: {
    group: "type_detection",
    params: ["text"],
    returns: "boolean",
    summary: "Whether the text is an http or https URL",
    run: ([text]) => isUrl(textOf(text)),
  },
  is_compress: {
    group: "type_detection",
    params: ["path"],
    returns: "boolean",
    summary:
      "Whether a name has the extension of an archive (.zip, .tar.gz, .tgz, .gz, .bz2, .xz, .7z, .rar …)",
    run: ([path]) => ARCHIVE.test(textOf(path).trim()),
  },
} satisfies Record<string, LibraryFunction>;
