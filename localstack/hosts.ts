import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";

/** Host names by which a client on the same machine reaches the gateway. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const UNSPECIFIED_ADDRESSES = new Set(["0.0.0.0", "::", ""]);

/** A host name, an IPv4 address or an IPv6 address in brackets, and an optional port. */
const AUTHORITY = /^([a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?\.?|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i;
const PORT_MAX = 65_535;

/** Accepted headers that are cached, so that they are parsed once. */
const REMEMBERED_MAX = 100;

export interface AllowedHosts {
  /** The address that the gateway listens on. */
  readonly host: string;
  /** `PUBLIC_URL`. */
  readonly publicUrl: string | undefined;
  /** `DJANGO_ALLOWED_HOSTS`: host names, `.example.org` for a domain with its subdomains, `*` for any. */
  readonly allowedHosts: readonly string[];
}

/**
 * Returns a function that checks the host of a request and returns an error message, or undefined. It refuses requests of
 * web pages whose name resolves to this machine (DNS rebinding). Ports are ignored. A gateway that listens on all
 * addresses also accepts IP addresses, which cannot be rebound, and the machine's own name.
 * Choice: infra/decisions/0091.
 */
export function hostCheck(allowed: AllowedHosts): (incoming: IncomingMessage) => string | undefined {
  const isAllowed = hostPredicate(allowed);
  const remembered = new Set<string>();
  return (incoming) => {
    const { rawHeaders, httpVersionMinor, url = "" } = incoming;
    const { host } = incoming.headers;
    if (host === undefined) {
      // HTTP/1.0 has no such header.
      if (httpVersionMinor === 1) return "The Host header is missing";
    } else if (!remembered.has(host)) {
      const name = hostName(host);
      if (name === undefined) return "The Host header is malformed";
      if (!isAllowed(name)) return refusal("Host header");
      if (remembered.size < REMEMBERED_MAX) remembered.add(host);
    }
    if (countHosts(rawHeaders) > 1) return "The request must have exactly one Host header";
    if (url.startsWith("/") || url === "*") return undefined;
    const target = URL.parse(url);
    const isHttp = target?.protocol === "http:" || target?.protocol === "https:";
    if (!isHttp || target.username !== "" || target.password !== "") return "The request target is malformed";
    return isAllowed(target.hostname) ? undefined : refusal("request target");
  };
}

const refusal = (where: string): string =>
  `The ${where} names a host that this server does not serve; its operator can add it to DJANGO_ALLOWED_HOSTS`;

function hostPredicate({ host, publicUrl, allowedHosts }: AllowedHosts): (name: string) => boolean {
  const own = isIP(host) === 6 ? `[${host}]` : host;
  const names = new Set([...LOOPBACK_NAMES, own, ...allowedHosts].map((name) => name.toLowerCase()));
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  const domains = [...names].filter((name) => name.startsWith("."));
  const listensOnAll = UNSPECIFIED_ADDRESSES.has(host);
  if (listensOnAll) names.add(hostname().toLowerCase());
  if (names.has("*")) return () => true;
  return (name) =>
    names.has(name) ||
    domains.some((domain) => name.endsWith(domain) || name === domain.slice(1)) ||
    (listensOnAll && (name.startsWith("[") || isIP(name) !== 0));
}

/** In lower case, without the port and the dot at the end; undefined for a malformed host. */
function hostName(header: string): string | undefined {
  const [, name, port = "0"] = AUTHORITY.exec(header) ?? [];
  if (name === undefined || Number(port) > PORT_MAX) return undefined;
  if (name.startsWith("[") && isIP(name.slice(1, -1)) !== 6) return undefined;
  return name.toLowerCase().replace(/\.$/, "");
}

/** Node keeps the first of several Host headers. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}
