import { isUtf8 } from "node:buffer";

/** The state of one client in an awareness update. y-protocols, awareness. */
export interface AwarenessState {
  readonly client: number;
  readonly clock: number;
  /** JSON of an object; `null` if the client has left. */
  readonly state: Readonly<Record<string, unknown>> | null;
}

/** Maximum size of an awareness update, bytes. */
export const AWARENESS_MAX_BYTES = 16 * 1024;
/** Clients in an update from one caller. */
const CLIENTS_MAX = 8;

/** Limits of an update. */
export interface AwarenessLimits {
  readonly bytes: number;
  readonly clients: number;
}

export const CALLER_AWARENESS_LIMITS: AwarenessLimits = { bytes: AWARENESS_MAX_BYTES, clients: CLIENTS_MAX };
/** Of the clients of a collaboration server, together. */
export const SERVER_AWARENESS_LIMITS: AwarenessLimits = { bytes: 256 * 1024, clients: 500 };
const DEPTH_MAX = 20;
const BASE = 128;

/** Reads an awareness update; undefined if the bytes are invalid or exceed a limit. */
export function decodeAwareness(
  bytes: Uint8Array,
  limits: AwarenessLimits = CALLER_AWARENESS_LIMITS,
): AwarenessState[] | undefined {
  if (bytes.length > limits.bytes) return undefined;
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; value <= Number.MAX_SAFE_INTEGER; factor *= BASE) {
      const byte = bytes[at] ?? Number.NaN;
      at += 1;
      value += (byte % BASE) * factor;
      if (!(byte >= BASE)) return value;
    }
    return Number.NaN;
  };
  const count = number();
  if (!(count <= limits.clients)) return undefined;
  const states: AwarenessState[] = [];
  while (states.length < count) {
    const [client, clock, length] = [number(), number(), number()];
    const text = bytes.subarray(at, at + length);
    at += length;
    if (![client, clock, length].every(Number.isSafeInteger) || text.length !== length) return undefined;
    const state = parseState(text);
    if (state === undefined) return undefined;
    states.push({ client, clock, state });
  }
  return at === bytes.length ? states : undefined;
}

function parseState(text: Uint8Array): AwarenessState["state"] | undefined {
  if (!isUtf8(text)) return undefined;
  try {
    const state: unknown = JSON.parse(Buffer.from(text).toString("utf8"));
    if (typeof state !== "object" || Array.isArray(state) || isDeeper(state, DEPTH_MAX)) return undefined;
    return state as AwarenessState["state"];
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((one) => isDeeper(one, depth - 1));
}

export function encodeAwareness(states: readonly AwarenessState[]): Uint8Array {
  const parts: Uint8Array[] = [varUint(states.length)];
  for (const { client, clock, state } of states) {
    const text = Buffer.from(JSON.stringify(state));
    parts.push(varUint(client), varUint(clock), varUint(text.length), text);
  }
  return Buffer.concat(parts);
}

function varUint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= BASE; rest = Math.floor(rest / BASE)) bytes.push((rest % BASE) + BASE);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
