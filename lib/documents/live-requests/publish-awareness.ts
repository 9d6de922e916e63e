import { ApiError } from "../../errors.ts";
import {
  type AwarenessLimits,
  type AwarenessState,
  CALLER_AWARENESS_LIMITS,
  decodeAwareness,
  encodeAwareness,
} from "../updates/awareness-update.ts";

/** Name and color of a cursor. */
export interface ShownUser {
  readonly name: string;
  readonly color: string;
}

/** Reads the awareness of a request. Throws `bad_request` if the text is not an awareness update. */
export function readAwareness(text: string, limits?: AwarenessLimits): readonly AwarenessState[] {
  const states = decodeAwareness(Buffer.from(text, "base64"), limits);
  if (states !== undefined) return states;
  const { clients, bytes } = limits ?? CALLER_AWARENESS_LIMITS;
  const message = `Must be an awareness update of at most ${clients} clients and ${bytes / 1024} KiB, in base64.`;
  throw new ApiError("bad_request", message, { body: { awareness: [message] } });
}

/** The awareness as other clients see it: the server sets the name and color. */
export function stampAwareness(states: readonly AwarenessState[], user: ShownUser): Uint8Array {
  return encodeAwareness(
    states.map((one) => (one.state?.user === undefined ? one : { ...one, state: { ...one.state, user } })),
  );
}
