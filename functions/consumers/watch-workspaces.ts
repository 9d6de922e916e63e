import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { fireSharedWatches } from "#lib/workflows/watches/fire-shared-watches.ts";
import type { WorkspaceChanged } from "#lib/workflows/workspaces/changed-event.ts";

export const consumer = defineConsumer({
  name: "watch-workspaces",
  summary: "Fires watch triggers for files that steps change in shared workspaces",
  rule: { source: ["weft.workspaces"], "detail-type": ["workspace.changed"] },
  queue: { maxReceiveCount: 8, batchSize: 10, concurrency: 4 },
  timeoutSeconds: 60,
  scripts: true,
  run: (messages, deps: Deps, { signal }) =>
    eachMessage(messages, ({ body }) =>
      fireSharedWatches(deps, (body as BusEnvelope<WorkspaceChanged>).detail, signal),
    ),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
