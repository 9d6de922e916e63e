import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { DocumentLog, LogEntry } from "../updates/update-log.ts";
import { generationField } from "./append-updates.ts";
import { type EventPosition, toBase64 } from "./server-sent-events.ts";

/** Longest state vector, characters of base64. URLs are limited to 16 KiB. */
const STATE_VECTOR_MAX = 12_000;
const POSITION_MAX = 1_000_000_000_000;
/** Longest tag of awareness, characters. */
const TAG_MAX = 64;
/** Longest time that a request may wait for updates, seconds. */
const WAIT_MAX_SECONDS = 25;

/** A number in a query. */
const queryNumber = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((text) => (typeof text === "string" && /^\d+$/.test(text) ? Number(text) : text), schema);

/** Query of a request for updates. */
export const updatesQuery = z
  .object({
    state_vector: z
      .string()
      .max(STATE_VECTOR_MAX)
      .optional()
      .describe("Yjs state vector of the client in base64; without it, the whole content is missing"),
    generation: queryNumber(generationField.optional()).describe(
      "The generation of the content that the client has; 412 if it has been replaced",
    ),
    position: queryNumber(z.int().min(0).max(POSITION_MAX).optional()).describe(
      "The last position that the client has; requires `generation`",
    ),
    wait: queryNumber(z.int().min(0).max(WAIT_MAX_SECONDS).optional()).describe(
      "Seconds to wait for an update after `position` if there is none",
    ),
    awareness_tag: z
      .string()
      .max(TAG_MAX)
      .optional()
      .describe(
        "The `awareness_tag` of the last response, or empty: the response then also waits for a change of awareness",
      ),
  })
  .refine(({ position, generation }) => position === undefined || generation !== undefined, {
    path: ["generation"],
    message: "This field is required with position.",
  });

/** Query of a client's request. */
export const clientUpdatesQuery = updatesQuery.safeExtend({
  content_patch: z
    .enum(["true", "false"])
    .optional()
    .describe(
      "Whether the client may edit, as the `permissions` of the last response: the request does not wait if that has changed",
    ),
});

/** Updates that a client does not have. */
export interface MissingUpdates extends EventPosition {
  /** Yjs updates (version 1 encoding) in base64. */
  readonly updates: readonly string[];
  /** The state vector of the whole content in base64, if it was read: the client then knows what it must send. */
  readonly state_vector?: string;
  /** Awareness update of y-protocols in base64 with all states, if the client does not have them. */
  readonly awareness?: string;
  readonly awareness_tag?: string;
  /** What the caller may do. A separate collaboration server checks that itself. */
  readonly permissions?: { readonly content_retrieve: boolean; readonly content_patch: boolean };
}

/** The whole content, or what is missing in a state vector. Throws as `DocumentLog.read`, and `bad_request`. */
export async function readMissing(
  log: DocumentLog,
  stateVector: string | undefined,
): Promise<MissingUpdates> {
  const [{ state, generation, position }, Y] = await Promise.all([log.read(), import("yjs")]);
  return {
    generation,
    position,
    updates: [toBase64(stateVector === undefined ? state : difference(Y.diffUpdate, state, stateVector))],
    state_vector: toBase64(Y.encodeStateVectorFromUpdate(state)),
  };
}

function difference(
  diffUpdate: (state: Uint8Array, vector: Uint8Array) => Uint8Array,
  state: Uint8Array,
  text: string,
): Uint8Array {
  const vector = Buffer.from(text, "base64");
  try {
    if (vector.length > 0 && vector.toString("base64") === text) return diffUpdate(state, vector);
  } catch {
    // Yjs has no error of its own for bytes that are not a state vector.
  }
  const message = "Must be a Yjs state vector in base64.";
  throw new ApiError("bad_request", message, { body: { state_vector: [message] } });
}

/** The entries after a position; undefined if the log does not have them any more. Throws as `DocumentLog.read`. */
export async function readSince(log: DocumentLog, position: number): Promise<MissingUpdates | undefined> {
  const entries = await log.readAfter(position);
  return entries === undefined ? undefined : missingUpdates(log.generation, position, entries);
}

/** Entries of a log after a position. */
export function missingUpdates(
  generation: number,
  position: number,
  entries: readonly LogEntry[],
): MissingUpdates {
  return {
    generation,
    position: entries.at(-1)?.position ?? position,
    updates: entries.flatMap(({ updates }) => updates.map(toBase64)),
  };
}
