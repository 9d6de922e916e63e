const PROTOCOLS = new Set(["http:", "https:", "mailto:", "tel:"]);
const EMAIL = /^[^\s@/:]+@[^\s@/]+\.[^\s@/]+$/;

/** The URL that a user means: `example.org` is one of the web. Undefined for what no link may lead to. */
export function typedUrl(text: string): string | undefined {
  const typed = text.trim();
  if (typed === "" || typed.startsWith("//")) return undefined;
  if (EMAIL.test(typed)) return `mailto:${typed}`;
  if (typed.startsWith("/")) return typed;
  if (/^[a-z][a-z\d+.-]*:(?!\d)/i.test(typed))
    return URL.canParse(typed) && PROTOCOLS.has(new URL(typed).protocol) ? typed : undefined;
  const url = `https://${typed}`;
  return !/^[^/]*\s/.test(typed) && URL.canParse(url) ? url : undefined;
}
