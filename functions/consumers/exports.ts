import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import type { ExportMessage } from "#lib/documents/exports/export-jobs.ts";
import { runExport } from "#lib/documents/exports/run-export.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "exports",
  summary: "Writes exports of document trees and of the data of users, and removes expired ones",
  // Interrupted exports begin again; the export itself counts its attempts.
  queue: { maxReceiveCount: 10, batchSize: 1, concurrency: 2 },
  timeoutSeconds: 540,
  memoryMb: 1024,
  // S3 requires the length of a zip first. Its attachments have up to 4 GiB.
  storageMb: 6144,
  run: (messages, deps: Deps, { signal }) =>
    eachMessage(messages, ({ body }) => runExport(deps, body as ExportMessage, signal)),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
