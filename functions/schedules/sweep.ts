import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { resendStaged } from "#lib/events/emit-together.ts";
import { resendPending } from "#lib/events/log/process.ts";
import { retainEvents } from "#lib/events/log/retain.ts";
import { sweepLists } from "#lib/workflows/records/index-lists.ts";
import { sweepRunQueue } from "#lib/workflows/runs/admission.ts";
import { resendStalledRuns } from "#lib/workflows/runs/resend-stalled.ts";
import { retainRuns } from "#lib/workflows/runs/retain.ts";
import { reconcileRules } from "#lib/workflows/store/schedule-rules.ts";
import { deleteExpiredClaims } from "#lib/workflows/triggers/dedupe.ts";

/** Maximum number of events sent in one sweep. */
const EVENTS_MAX = 100;

export const consumer = defineConsumer({
  name: "sweep",
  summary:
    "Sends due timers, resends messages lost between a commit and its send, and removes expired records",
  schedule: "rate(1 minute)",
  queue: { maxReceiveCount: 3, batchSize: 1, concurrency: 2 },
  timeoutSeconds: 120,
  run: async (_messages, deps: Deps) => {
    // A failure does not prevent the other tasks.
    const outcomes = await Promise.allSettled([
      deps.scheduler.sweepTimers(deps.clock.now()),
      resendPending(deps, EVENTS_MAX),
      resendStaged(deps),
      resendStalledRuns(deps),
      sweepRunQueue(deps),
      sweepLists(deps),
      reconcileRules(deps),
      deleteExpiredClaims(deps),
      retainEvents(deps),
      retainRuns(deps),
      deps.blobs.forgetUploads?.(),
    ]);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
