/** Derives values from the text of a target, without network requests. Reference 2.9. */
export function targetValues(target: string): Record<string, string> {
  const url = /^https?:\/\//i.test(target) && URL.canParse(target) ? new URL(target) : undefined;
  const host = (url?.hostname ?? target).toLowerCase();
  const isDomain = DOMAIN.test(host);
  const root = isDomain ? rootDomain(host) : "";
  const facts = {
    TargetType: typeOf(target, url, isDomain),
    TargetRootDomain: root,
    TargetTLD: root.split(".").slice(1).join("."),
    TargetSLD: root.split(".")[0] ?? "",
    Org: root.split(".")[0] ?? "",
  };
  if (url === undefined) return facts;
  const file = /\.([A-Za-z0-9]{1,10})$/.exec(url.pathname);
  return {
    ...facts,
    TargetBaseURL: `${url.origin}${url.pathname.slice(0, url.pathname.lastIndexOf("/"))}`,
    TargetRootURL: url.origin,
    TargetHostname: url.hostname,
    TargetHost: url.host,
    TargetPort: url.port || (url.protocol === "https:" ? "443" : "80"),
    TargetPath: url.pathname,
    TargetFileExt: file?.[1] ?? "",
    TargetScheme: url.protocol.slice(0, -1),
  };
}

/** Returns the same names with empty values, for a target that is not to be parsed. */
export const emptyTargetValues = (target: string): Record<string, string> =>
  Object.fromEntries(Object.keys(targetValues(target)).map((name) => [name, ""]));

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;
const ADDRESS = /^(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?$|^[0-9a-f:]*:[0-9a-f:]+(?:\/\d{1,3})?$/i;

function typeOf(target: string, url: URL | undefined, isDomain: boolean): string {
  if (url !== undefined) return "url";
  if (ADDRESS.test(target)) return "ip";
  if (isDomain) return "domain";
  return target.startsWith("/") || target.startsWith("./") ? "file" : "unknown";
}

/** Second-level domains under which countries register names, as in `co.uk`. */
const REGISTRIES: ReadonlySet<string> = new Set(["co", "com", "net", "org", "gov", "edu", "ac", "or", "ne"]);

/** Returns the registered domain: for `a.b.example.co.uk` the last three labels, otherwise the last two. */
function rootDomain(host: string): string {
  const labels = host.split(".");
  const [second = "", top = ""] = labels.slice(-2);
  return labels.slice(labels.length > 2 && top.length === 2 && REGISTRIES.has(second) ? -3 : -2).join(".");
}
