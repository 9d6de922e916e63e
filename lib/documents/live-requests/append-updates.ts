import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { StoredUser } from "../tables/users.ts";
import { AWARENESS_MAX_BYTES, SERVER_AWARENESS_LIMITS } from "../updates/awareness-update.ts";
import { mayAddRoot } from "../updates/may-add-root.ts";
import { UPDATE_MAX_BYTES } from "../updates/open-log.ts";
import type { DocumentLog } from "../updates/update-log.ts";
import { isYjsUpdate } from "../updates/yjs-update.ts";
import { describeReplaced, type GenerationDeps, openLogOf } from "./generation.ts";

/** Maximum number of updates in one request. */
const UPDATES_MAX = 100;
const GENERATION_MAX = 1_000_000_000_000;

/** Maximum size of a request: the largest update in base64, and other fields. */
export const UPDATES_BODY_MAX_BYTES = 12 * 1024 * 1024;

export const generationField = z
  .int()
  .min(0)
  .max(GENERATION_MAX)
  .describe("The generation of the content that the client has; 412 if it has been replaced");

const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Body of a request that appends updates, or passes on awareness. */
export const updatesBody = z
  .object({
    generation: generationField.optional(),
    updates: z
      .array(z.string())
      .min(1)
      .max(UPDATES_MAX)
      .optional()
      .describe(
        "Yjs updates (version 1 encoding) in base64, at most 100 of at most 8 MiB each. On AWS a request is limited to 4 MiB",
      ),
    awareness: z
      .string()
      .max(base64Length(AWARENESS_MAX_BYTES))
      .optional()
      .describe(
        "Awareness update of y-protocols in base64, at most 16 KiB and 5 per second: where the caller's cursor is",
      ),
  })
  .refine(({ updates, awareness }) => updates !== undefined || awareness !== undefined, {
    path: ["updates"],
    message: "This field is required.",
  });

/** Body of a separate collaboration server. */
export const roomUpdatesBody = updatesBody.safeExtend({
  awareness: z
    .string()
    .max(base64Length(SERVER_AWARENESS_LIMITS.bytes))
    .optional()
    .describe("Awareness update of y-protocols in base64, of at most 500 clients, as they are shown"),
  lease: z
    .object({ node: z.guid(), fence: z.int().min(0) })
    .optional()
    .describe("The lease of the room: the updates are appended only while it is the current one"),
});

/** Where the appended updates are in the document's log. */
export const appendedUpdates = z.object({
  generation: z.int(),
  position: z.int().describe("Position of the last appended update"),
});

/**
 * Appends updates to a document's log; they are on disk when this resolves. If it fails, some may have been appended:
 * repeating the request does no harm. Throws `bad_request`, `payload_too_large`, `precondition_failed`, `not_found`,
 * `too_many_requests`, and `conflict` if the room has another lease.
 */
export async function appendUpdates(
  deps: GenerationDeps,
  viewer: Pick<StoredUser, "id"> | undefined,
  id: string,
  { generation, updates: sent = [], lease }: z.infer<typeof roomUpdatesBody>,
): Promise<z.infer<typeof appendedUpdates>> {
  const updates = sent.map(decodeUpdate);
  const author = viewer?.id ?? null;
  const log = await openLogOf(deps, id, generation);
  try {
    if (updates.some(mayAddRoot)) await checkRoots(log, updates);
    // Appended together, they are written together.
    const settled = await Promise.allSettled(updates.map((update) => log.append(update, { author, lease })));
    const positions = settled.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
    return {
      generation: log.generation,
      position: positions.length === 0 ? log.position : Math.max(...positions),
    };
  } catch (error) {
    if (error instanceof ApiError && error.code === "payload_too_large")
      throw invalid(error.code, error.message);
    throw await describeReplaced(deps, log, error);
  } finally {
    log.close();
  }
}

/** Throws `precondition_failed` for updates of content that is not this document's. */
async function checkRoots(log: DocumentLog, updates: readonly Uint8Array[]): Promise<void> {
  const { applyUpdate, Doc } = await import("yjs");
  const { addsSecondRoot } = await import("../updates/second-root.ts");
  const doc = new Doc();
  applyUpdate(doc, (await log.read()).state);
  if (updates.some((update) => addsSecondRoot(doc, update)))
    throw new ApiError(
      "precondition_failed",
      "The updates belong to other content than the document's; open the document again.",
    );
}

function decodeUpdate(text: string, at: number): Uint8Array {
  const update = Buffer.from(text, "base64");
  if (update.length > UPDATE_MAX_BYTES)
    throw invalid("payload_too_large", `Update ${at + 1} is larger than 8 MiB.`);
  // Node ignores invalid characters, so the text is valid only if re-encoding gives it back.
  if (update.toString("base64") !== text)
    throw invalid("bad_request", `Update ${at + 1}: Invalid base64 content.`);
  if (!isYjsUpdate(update)) throw invalid("bad_request", `Update ${at + 1} is not a Yjs update.`);
  return update;
}

const invalid = (code: "bad_request" | "payload_too_large", message: string): ApiError =>
  new ApiError(code, message, { body: { updates: [message] } });
