import { hash, randomUUID } from "node:crypto";
import type { Clock } from "./clock.ts";

/** The ids port. */
export interface Ids {
  /** A version 4 UUID: does not reveal when it was created. */
  random(): string;
  /** A version 7 UUID: later ids sort after earlier ones, strictly so within one process. */
  ordered(): string;
}

const SEQUENCE_BITS = 12;

/** Ids from the system's random source. `ordered` stays monotonic even if the clock moves backwards. */
export function systemIds(clock: Clock): Ids {
  let lastMs = 0;
  let sequence = 0;
  const ordered = (): string => {
    const now = clock.now();
    if (now > lastMs) {
      lastMs = now;
      sequence = Number.parseInt(randomUUID().slice(0, 2), 16);
    } else {
      sequence += 1;
      if (sequence >= 1 << SEQUENCE_BITS) {
        lastMs += 1;
        sequence = 0;
      }
    }
    const time = lastMs.toString(16).padStart(12, "0");
    // The last 16 hexadecimal digits of a version 4 UUID start with the variant bits that version 7 needs too. Node
    // draws random numbers for many UUIDs at once.
    const tail = randomUUID().slice(19);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, "0")}-${tail}`;
  };
  return { random: () => randomUUID(), ordered };
}

/** The same UUID (version 8) for the same parts: a redelivered input finds what its first delivery created. */
export function derivedId(...parts: readonly string[]): string {
  const named = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join("");
  const bytes = hash("sha256", named, "buffer").subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
