import { isIPv6 } from "node:net";
import type { networkInterfaces } from "node:os";

const ANY: ReadonlySet<string> = new Set(["", "0.0.0.0", "::"]);
const LINK_LOCAL = "169.254.";

/** Where other processes reach one that listens at `host`: there, or at the first address of the machine. */
export function nodeAddress(
  host: string,
  port: number,
  interfaces: ReturnType<typeof networkInterfaces>,
): string {
  const own = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .find(
      ({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith(LINK_LOCAL),
    );
  const name = ANY.has(host) ? (own?.address ?? "127.0.0.1") : host;
  return `${isIPv6(name) ? `[${name}]` : name}:${port}`;
}
