import { isIP } from "node:net";
import { extname } from "node:path";
import { numberOf, textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

const group = "url_processing";

/** Parses a URL; undefined if the text is not one. */
export function toUrl(text: string): URL | undefined {
  return URL.parse(text.trim()) ?? undefined;
}

/** Public suffixes of two labels. */
const DOUBLE_ENDINGS = new Set(
  "co.uk org.uk gov.uk ac.uk com.au net.au edu.au org.au co.jp or.jp ne.jp ac.jp go.jp co.nz co.za com.br com.cn com.mx com.tw com.hk com.sg com.tr com.vn com.ar com.co co.in co.kr co.id co.il co.th".split(
    " ",
  ),
);

/** `api.sub.example.co.uk` is the name `example` under `co.uk`, with the subdomain `api.sub`. */
function domainParts(domain: string): {
  readonly subdomain: string;
  readonly root: string;
  readonly ending: string;
} {
  const labels = domain.split(".");
  if (labels.length === 1 || isIP(domain.replaceAll(/[[\]]/g, "")) !== 0)
    return { subdomain: "", root: domain, ending: "" };
  const endingLabels = DOUBLE_ENDINGS.has(labels.slice(-2).join(".")) ? 2 : 1;
  const rest = labels.slice(0, -endingLabels);
  return {
    subdomain: rest.slice(0, -1).join("."),
    root: rest.at(-1) ?? "",
    ending: labels.slice(-endingLabels).join("."),
  };
}

/** Formats a URL; the formats are those of `parse_url`. */
export function formatUrl(text: string, format: string): string {
  const url = toUrl(text);
  if (url === undefined) return "";
  const { subdomain, root, ending } = domainParts(url.hostname);
  const user = url.password === "" ? url.username : `${url.username}:${url.password}`;
  const at = user === "" ? "" : "@";
  const colon = url.port === "" ? "" : ":";
  const query = url.search.replace(/^\?/, "");
  const fragment = url.hash.replace(/^#/, "");
  const pieces: Readonly<Record<string, string>> = {
    "%": "%",
    s: url.protocol.replace(/:$/, ""),
    u: user,
    d: url.hostname,
    S: subdomain,
    r: root,
    t: ending,
    P: url.port,
    p: url.pathname,
    e: extname(url.pathname).slice(1),
    q: query,
    f: fragment,
    "@": at,
    ":": colon,
    "?": query === "" ? "" : "?",
    "#": fragment === "" ? "" : "#",
    a: `${user}${at}${url.hostname}${colon}${url.port}`,
  };
  return format.replaceAll(/%([\s\S])/g, (whole, name: string) =>
    Object.hasOwn(pieces, name) ? (pieces[name] ?? "") : whole,
  );
}

function parentOf(text: string): string {
  const url = toUrl(text);
  if (url === undefined) return "";
  url.search = "";
  url.hash = "";
  url.pathname = url.pathname.replace(/\/$/, "").replace(/[^/]*$/, "");
  return url.href;
}

/** Changes only the query and leaves the rest of the URL as written. */
function withQuery(text: string, change: (value: string) => string): string {
  const [, before = "", query = "", hash = ""] = /^([^?#]*)\?([^#]*)([\s\S]*)$/.exec(text) ?? [];
  if (query === "") return text;
  const pairs = query.split("&").map((pair) => {
    if (pair === "") return pair;
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    return `${name}=${change(equals < 0 ? "" : pair.slice(equals + 1))}`;
  });
  return `${before}?${pairs.join("&")}${hash}`;
}

function withSegment(text: string, value: string, position: number): string {
  const [, start = "", path = "", rest = ""] =
    /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)\/([^?#]*)([\s\S]*)$/i.exec(text) ?? [];
  if (path === "") return text;
  const encoded = encodeURIComponent(value);
  const segments = path.split("/");
  const replaced = segments.map((segment, index) =>
    (position <= 0 && segment !== "") || index === position - 1 ? encoded : segment,
  );
  return `${start}/${replaced.join("/")}${rest}`;
}

export const urlFunctions = {
  get_parent_url: {
    group,
    params: ["url"],
    returns: "string",
    summary: "The URL of the parent folder, without query and fragment; empty if the text is not a URL",
    example: 'get_parent_url("https://example.com/a/b.php?x=1")',
    run: ([url]) => parentOf(textOf(url)),
  },
  parse_url: {
    group,
    params: ["url", "format"],
    returns: "string",
    summary:
      "Parts of a URL: %s scheme, %u user, %d domain, %S subdomain, %r name, %t top-level domain, %P port, %p path, %e file extension, %q query, %f fragment, %a authority, %% a percent sign; %@ %: %? %# these signs if their part exists",
    example: 'parse_url("https://sub.example.com/x", "%s://%d%p")',
    run: ([url, format]) => formatUrl(textOf(url), textOf(format)),
  },
  query_replace: {
    group,
    params: ["url", "value", "mode?"],
    returns: "string",
    summary: "The URL with all query values replaced, or with mode append the value appended to each",
    example: 'query_replace("https://example.com/?a=1&b=2", "FUZZ", "append")',
    run: ([url, value, mode]) => {
      const encoded = encodeURIComponent(textOf(value));
      return withQuery(textOf(url), (old) => (textOf(mode) === "append" ? old + encoded : encoded));
    },
  },
  path_replace: {
    group,
    params: ["url", "value", "position?"],
    returns: "string",
    summary: "The URL with a segment of its path replaced, the first by default; 0 replaces all",
    example: 'path_replace("https://example.com/a/b/c", "x", 2)',
    run: ([url, value, position]) =>
      withSegment(textOf(url), textOf(value), Math.trunc(numberOf(position, 1))),
  },
} satisfies Record<string, LibraryFunction>;
