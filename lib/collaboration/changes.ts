import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { changeTables, type FeedDeps } from "../documents/changes/change-feed.ts";
import { readLines } from "../documents/live-requests/access-feed.ts";
import { usersOfExpiredSessions } from "../documents/login/sessions.ts";
import { SHARDS } from "../documents/tables/changes.ts";

/** Time between two reads while a request waits, milliseconds. */
const INTERVAL_MS = 250;
/** Longest time that a request may wait, seconds. */
const WAIT_MAX_SECONDS = 25;
/** An index may lag behind its table, milliseconds. */
const INDEX_LAG_MS = 2_000;
const DIGITS_MAX = 15;
const COUNTS_MAX = SHARDS.length * (DIGITS_MAX + 1);
const DOCUMENTS_MAX = 100;
const ID_MAX = 200;

const number = z.string().regex(/^\d{1,15}$/, "A valid integer is required.");

/** Query of a request for changes of documents: for the counts of all shards, or for the rows of one. */
export const changesQuery = z.object({
  counts: z
    .string()
    .max(COUNTS_MAX)
    .regex(/^\d{1,15}(?:,\d{1,15}){15}$/, "Must be 16 integers separated by commas.")
    .optional()
    .describe("Counts that the caller has; with `wait`, the response waits until they differ"),
  shard: z.enum(SHARDS).optional().describe("Shard whose rows are requested"),
  since: number
    .transform(Number)
    .optional()
    .describe("Time of a response, or the time from which rows are requested, milliseconds since the epoch"),
  wait: number
    .transform(Number)
    .pipe(z.int().max(WAIT_MAX_SECONDS))
    .optional()
    .describe("Seconds to wait, at most 25"),
});

/** The counts of all shards, or the rows of one. */
export const changesRecord = z
  .object({
    now: z.int().describe("Milliseconds since the epoch"),
    counts: z.array(z.int()).optional().describe("Number of rows ever written to each shard"),
    users: z.array(z.string()).optional().describe("Users whose session has expired since `since`"),
    rows: z
      .array(
        z.object({
          id: z.string(),
          documents: z.array(z.string()),
          access: z.array(z.string()).optional().describe("Those whose link, parent or deletion has changed"),
          relations: z.array(z.tuple([z.string(), z.string()])),
          users: z.array(z.string()).describe("Users whose session or token has ended"),
        }),
      )
      .optional(),
  })
  .meta({ id: "CollaborationChanges" });

type Changes = z.infer<typeof changesRecord>;

/** Reads the rows of a shard, or the counts of all; waits until these differ from those that the caller has. */
export async function readChanges(
  deps: FeedDeps,
  { counts: known, shard, since, wait = 0 }: z.infer<typeof changesQuery>,
  signal: AbortSignal,
): Promise<Changes> {
  const tables = changeTables(deps);
  if (shard !== undefined) {
    const rows = await tables.rowsSince(shard, since ?? 0);
    return {
      now: tables.now(),
      rows: rows.map(({ sk, documents, access = documents, relations, users = [] }) => ({
        id: sk,
        documents: [...documents],
        access: [...access],
        relations: relations.map(([user, document]) => [user, document]),
        users: [...users],
      })),
    };
  }
  const deadline = performance.now() + wait * 1000;
  for (;;) {
    const now = tables.now();
    const counted = await tables.readCounts();
    const counts = SHARDS.map((name) => counted.get(name) ?? 0);
    const users = since === undefined ? [] : await usersOfExpiredSessions(deps, since - INDEX_LAG_MS, now);
    const isNew = counts.join() !== known || users.length > 0;
    if (isNew || signal.aborted || performance.now() >= deadline) return { now, counts, users: [...users] };
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
}

export const accessStatesBody = z.object({
  documents: z.array(z.string().max(ID_MAX)).min(1).max(DOCUMENTS_MAX),
});

/** Documents with their ancestors, on which the access to them depends. */
export const accessStatesRecord = z
  .object({
    documents: z.array(
      z.object({
        id: z.string(),
        line: z.array(z.string()).describe("Ids of the document and its ancestors"),
      }),
    ),
  })
  .meta({ id: "CollaborationAccessStates" });

/** Reads the ancestors of documents; omits those that do not exist. */
export async function listAccessStates(
  deps: FeedDeps,
  { documents }: z.infer<typeof accessStatesBody>,
): Promise<z.infer<typeof accessStatesRecord>> {
  const lines = await readLines(deps, [...new Set(documents)]);
  return { documents: [...lines].map(([id, line]) => ({ id, line: [...line] })) };
}
