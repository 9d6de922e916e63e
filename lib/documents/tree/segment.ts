import type { Ports } from "../../platform/ports.ts";

/** Characters of a level of the path that clients see, and what they are. Reference 2.1. */
export const SEGMENT_LENGTH = 7;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A random part of a path. */
export function newSegment({ ids }: Pick<Ports, "ids">): string {
  const bytes = Buffer.from(ids.random().replaceAll("-", ""), "hex");
  // The bits of a UUID that say its version are left out.
  let number = (BigInt(bytes.readUInt32BE(0)) << 32n) | BigInt(bytes.readUInt32BE(12));
  let text = "";
  for (let at = 0; at < SEGMENT_LENGTH; at += 1) {
    text += ALPHABET[Number(number % 62n)];
    number /= 62n;
  }
  return text;
}
