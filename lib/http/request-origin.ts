/** A host name, an IPv4 address or an IPv6 address in brackets, and an optional port. */
const HOST = /^(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Scheme and host that a request was sent to, from the headers that the gateway has checked. */
export function requestOrigin(headers: Readonly<Record<string, string>>): string {
  const scheme = headers["x-forwarded-proto"] === "https" ? "https" : "http";
  const { host = "" } = headers;
  return `${scheme}://${HOST.test(host) && URL.canParse(`${scheme}://${host}`) ? host : "localhost"}`;
}
