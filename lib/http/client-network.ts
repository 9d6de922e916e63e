/** An IPv4 address, or the /64 network of an IPv6 address: a client usually has all of its addresses. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.includes(".")) return address.replace(/^::ffff:/i, "");
  const [start = "", end] = address.split("::", 2);
  const groups = start.split(":");
  const missing = end === undefined ? 0 : 8 - groups.length - end.split(":").length;
  return [...groups, ...Array<string>(Math.max(0, missing)).fill("0"), ...(end ?? "").split(":")]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, "").toLowerCase())
    .join(":");
}
