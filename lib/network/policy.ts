import { type LookupAddress, lookup as resolveByDns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { NetworkPolicy } from "../settings/config.ts";
import { type AddressKind, kindOfAddress } from "./addresses.ts";

/** Names of metadata services: what they resolve to differs, and some proxies resolve for themselves. */
const INTERNAL_NAMES: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The request goes where no step may reach. Trying again changes nothing. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressRefused";
  }
}

/** Finds the addresses of a name, as `dns.lookup` does with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly family?: number | "IPv4" | "IPv6"; readonly hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Refuses a URL's host where it is an address or a name that no step may reach. Throws AddressRefused. */
export function checkHost(url: URL, policy: NetworkPolicy): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const refused = isIP(host) === 0 ? refusedName(host) : refusedAddress(host, host, policy);
  if (refused !== undefined) throw refused;
}

/**
 * A lookup for sockets that gives only addresses that the policy allows. The socket is connected to the very
 * address that was checked, so a name that resolves differently the next time gains nothing.
 */
export function guardedLookup(policy: NetworkPolicy, resolve: Resolve = resolveByDns): LookupFunction {
  return (hostname, { all, family, hints }, callback) => {
    const refused = refusedName(hostname);
    if (refused !== undefined) return void process.nextTick(callback, refused, []);
    const options = {
      all: true,
      ...(family === undefined ? {} : { family }),
      ...(hints === undefined ? {} : { hints }),
    } as const;
    resolve(hostname, options, (error, found) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => refusedAddress(hostname, address, policy) === undefined);
      const [first] = allowed;
      if (first === undefined) {
        const [any] = found;
        return callback(refusedAddress(hostname, any?.address ?? "", policy) ?? null, []);
      }
      if (all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function refusedName(hostname: string): AddressRefused | undefined {
  const name = hostname.toLowerCase().replace(/\.+$/, "");
  return INTERNAL_NAMES.has(name)
    ? new AddressRefused(`${hostname} is a metadata service, which no step may reach`)
    : undefined;
}

function refusedAddress(host: string, address: string, policy: NetworkPolicy): AddressRefused | undefined {
  const kind = kindOfAddress(address);
  if (isAllowed(kind, policy)) return undefined;
  const shown = host === address ? address : `${host} (${address})`;
  if (kind === "internal")
    return new AddressRefused(`${shown} is a link-local or metadata address, which no step may reach`);
  if (kind === "loopback" && policy.loopback === "deny")
    return new AddressRefused(`${shown} is the address of a function's own machine, which no step may reach`);
  return new AddressRefused(
    `${shown} is a private address, which HTTP_STEP_PRIVATE_ADDRESSES keeps steps from`,
  );
}

function isAllowed(kind: AddressKind, policy: NetworkPolicy): boolean {
  if (kind === "public") return true;
  if (kind === "internal") return false;
  if (kind === "loopback" && policy.loopback === "deny") return false;
  return policy.privateAddresses === "allow";
}
