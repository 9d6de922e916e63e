import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Classification of an address. `internal` addresses expose the machine itself and are never reached. */
export type AddressKind = "public" | "private" | "loopback" | "internal";

/** A subnet, `address/prefix`. */
type Subnet = `${string}/${number}`;

/** Link-local addresses, which serve cloud credentials, and further metadata addresses of some clouds. */
const INTERNAL = blockList([
  "169.254.0.0/16",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "fe80::/10",
  "fd00:ec2::/32",
  "fd20:ce::/64",
]);
const LOOPBACK = blockList(["127.0.0.0/8", "0.0.0.0/8", "::/127"]);
/** Private networks, and ranges that are not assigned on the Internet. */
const PRIVATE = blockList([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "64:ff9b:1::/48",
  "100::/64",
  "2001:db8::/32",
  "fc00::/7",
  "fec0::/10",
  "ff00::/8",
]);

function blockList(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", prefix = ""] = subnet.split("/");
    list.addSubnet(address, Number(prefix), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

/** Classifies an address, including IPv4 addresses embedded in IPv6. An invalid address counts as internal. */
export function kindOfAddress(address: string): AddressKind {
  if (isIPv4(address)) return kindIn(address, "ipv4");
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return "internal";
  const own = kindIn(plain, "ipv6");
  const inside = own === "public" ? ipv4Inside(groupsOf(plain)) : undefined;
  return inside === undefined ? own : kindIn(inside, "ipv4");
}

function kindIn(address: string, family: "ipv4" | "ipv6"): AddressKind {
  if (INTERNAL.check(address, family)) return "internal";
  if (LOOPBACK.check(address, family)) return "loopback";
  return PRIVATE.check(address, family) ? "private" : "public";
}

/**
 * The IPv4 address to which packets for an IPv6 address are delivered: mapped, compatible, translated, 6to4 or Teredo.
 */
function ipv4Inside(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const high = a === 0 && b === 0 && c === 0 && d === 0;
  if (high && ((e === 0 && (f === 0 || f === 0xffff)) || (e === 0xffff && f === 0))) return dotted(g, h);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return dotted(g, h);
  if (a === 0x2002) return dotted(b, c);
  if (a === 0x2001 && b === 0) return dotted(g ^ 0xffff, h ^ 0xffff);
  return undefined;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const text = address.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const [a = 0, b = 0, c = 0, d = 0] = tail.split(".").map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = "", tail] = text.split("::");
  const numbers = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}
