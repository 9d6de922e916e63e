import { type LookupAddress, lookup as resolveByDns } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { NetworkPolicy } from "../settings/config.ts";
import { type AddressKind, kindOfAddress } from "./addresses.ts";

/** Names of metadata services: their addresses vary, and some proxies resolve names themselves. */
const INTERNAL_NAMES: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The address policy rejects the request. A retry does not help. */
export class AddressDeniedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressDeniedError";
  }
}

/** Resolves a name to addresses, as `dns.lookup` does with `all`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly family?: number | "IPv4" | "IPv6"; readonly hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Checks a URL's host if it is an address or a name that steps must not reach. Throws AddressDeniedError. */
export function checkHost(url: URL, policy: NetworkPolicy): void {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const refused = isIP(host) === 0 ? refusedName(host) : refusedAddress(host, host, policy);
  if (refused !== undefined) throw refused;
}

/**
 * A lookup for sockets that returns only addresses that the policy allows. The socket connects to the address that was
 * checked, which prevents DNS rebinding.
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

function refusedName(hostname: string): AddressDeniedError | undefined {
  const name = hostname.toLowerCase().replace(/\.+$/, "");
  return INTERNAL_NAMES.has(name)
    ? new AddressDeniedError(`${hostname} is a metadata service, to which steps may not connect`)
    : undefined;
}

function refusedAddress(
  host: string,
  address: string,
  policy: NetworkPolicy,
): AddressDeniedError | undefined {
  const kind = kindOfAddress(address);
  if (isAllowed(kind, policy)) return undefined;
  const shown = host === address ? address : `${host} (${address})`;
  if (kind === "internal")
    return new AddressDeniedError(
      `${shown} is a link-local or metadata address, to which steps may not connect`,
    );
  if (kind === "loopback" && policy.loopback === "deny")
    return new AddressDeniedError(
      `${shown} is a loopback address of the function's machine, to which steps may not connect`,
    );
  return new AddressDeniedError(
    `${shown} is a private address, to which HTTP_STEP_PRIVATE_ADDRESSES does not let steps connect`,
  );
}

function isAllowed(kind: AddressKind, policy: NetworkPolicy): boolean {
  if (kind === "public") return true;
  if (kind === "internal") return false;
  if (kind === "loopback" && policy.loopback === "deny") return false;
  return policy.privateAddresses === "allow";
}
