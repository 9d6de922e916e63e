import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** Names the client of a request that one process of the collaboration server passes on to another. */
export const FORWARDED_HEADER = "x-weft-forwarded";

/** How old a signature may be, or how far ahead the clock of its process, milliseconds. */
const VALID_MS = 60_000;
const HEADER_MAX = 1_000;
const ADDRESS_MAX = 100;

export interface Forwarded {
  /** The client's address. */
  readonly address: string;
}

const signatureOf = (key: string, payload: string): Buffer =>
  createHmac("sha256", key).update(`${FORWARDED_HEADER}:${payload}`).digest();

/** The value of the header, which only holders of the key can create. `now` in milliseconds. */
export function signForwarded(key: string, { address }: Forwarded, now: number): string {
  const payload = Buffer.from(JSON.stringify([address, now])).toString("base64url");
  return `${payload}.${signatureOf(key, payload).toString("base64url")}`;
}

/** Undefined for a request of a client; `invalid` if the header is not from a process with the key. */
export function readForwarded(
  key: string,
  { [FORWARDED_HEADER]: header }: IncomingHttpHeaders,
  now: number,
): Forwarded | "invalid" | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || header.length > HEADER_MAX) return "invalid";
  const [payload = "", sent = ""] = header.split(".");
  const signature = Buffer.from(sent, "base64url");
  const expected = signatureOf(key, payload);
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return "invalid";
  const [address, at] = JSON.parse(Buffer.from(payload, "base64url").toString()) as [string, number];
  return Math.abs(now - at) > VALID_MS ? "invalid" : { address };
}

/** The address of a client behind `proxies` proxies, each of which appends the address of its own client. */
export function clientAddress({ headers, socket }: IncomingMessage, proxies: number): string {
  const header = headers["x-forwarded-for"];
  const addresses = (typeof header === "string" ? header : "").split(",").map((one) => one.trim());
  const named = proxies === 0 ? undefined : addresses.at(-proxies);
  return named === undefined || named === "" ? (socket.remoteAddress ?? "") : named.slice(0, ADDRESS_MAX);
}
