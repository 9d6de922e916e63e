import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import {
  notificationKey,
  notificationStateKey,
  notificationStatesTable,
  notificationsTable,
  type StoredNotification,
} from "../tables/notifications.ts";
import { digestOf, planDigest } from "./digests.ts";
import { toSettings } from "./settings.ts";

export type StoreDeps = Pick<Ports, "tables" | "clock" | "ids" | "timers">;

/** How long a notification is stored, milliseconds. */
const STORED_MS = 90 * 24 * 3_600_000;
/** Maximum notifications of a user, and of failed runs among them: the oldest are deleted. */
export const NOTIFICATIONS_MAX = 500;
export const RUN_NOTIFICATIONS_MAX = 100;
/** Notifications above the maximum before a cleanup. */
const CLEANUP_AFTER = 50;
const DELETED_AT_ONCE = 90;

/** A notification before it is stored. */
export type NewNotification = Pick<
  StoredNotification,
  "kind" | "actor" | "document" | "thread" | "comment" | "block" | "role" | "run"
>;

/** The event that causes a notification. */
export interface Cause {
  readonly event_id: string;
  readonly created_at: string;
}

/**
 * Stores a notification and plans the email with it, as the user's settings say; once per user and event. Does
 * nothing if the user has turned its kind off.
 */
export async function storeNotification(
  deps: StoreDeps,
  user: string,
  cause: Cause,
  made: NewNotification,
): Promise<void> {
  const key = notificationKey(user, cause.event_id);
  const total = await retryOnConflict(
    async () => {
      const state = await deps.tables.get(notificationStatesTable, notificationStateKey(user));
      const { email, in_app } = toSettings(state)[made.kind];
      const digest = email ? digestOf(made) : undefined;
      if (!in_app && digest === undefined) return 0;
      const item: StoredNotification = {
        ...key,
        ...made,
        created_at: cause.created_at,
        expires_at: Math.ceil((Date.parse(cause.created_at) + STORED_MS) / 1000),
        in_app,
        read_at: null,
        ...(digest === undefined ? {} : { digest }),
      };
      const writes: Write[] = [
        { op: "put", table: notificationsTable, item, when: [["pk", "missing"]] },
        {
          op: "update",
          table: notificationStatesTable,
          key: notificationStateKey(user),
          change: { add: { total: 1 } },
        },
        ...(digest === undefined ? [] : await planDigest(deps, user, digest)),
      ];
      const outcome = await deps.tables.write(writes);
      if (!outcome.ok) return outcome.failed.includes(0) ? 0 : CONFLICT;
      return (state?.total ?? 0) + 1;
    },
    { exceeded: () => new ApiError("conflict", "The notification could not be stored") },
  );
  if (total >= NOTIFICATIONS_MAX + CLEANUP_AFTER) await deleteOldest(deps, user);
}

/** Deletes the oldest notifications above the maximum. */
async function deleteOldest({ tables }: StoreDeps, user: string): Promise<void> {
  const all = await readAll({ tables }, notificationsTable, { pk: user, reverse: true });
  let runs = 0;
  let kept = 0;
  const superfluous = all.filter(({ kind }) => {
    if (kind === "failed_run") runs += 1;
    const isKept = kept < NOTIFICATIONS_MAX && (kind !== "failed_run" || runs <= RUN_NOTIFICATIONS_MAX);
    if (isKept) kept += 1;
    return !isKept;
  });
  for (let at = 0; at < superfluous.length; at += DELETED_AT_ONCE)
    await tables.write(
      superfluous
        .slice(at, at + DELETED_AT_ONCE)
        .map(({ pk, sk }): Write => ({ op: "delete", table: notificationsTable, key: { pk, sk } })),
    );
  // Concurrent additions may be lost from the count: it only decides when to clean up.
  await tables.update(notificationStatesTable, notificationStateKey(user), { set: { total: kept } });
}
