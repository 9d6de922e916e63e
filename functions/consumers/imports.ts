import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import type { ImportMessage } from "#lib/documents/imports/import-state.ts";
import { runImport } from "#lib/documents/imports/run-import.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "imports",
  summary: "Imports archives and large files as documents, and removes what interrupted imports leave",
  queue: { maxReceiveCount: 5, batchSize: 1, concurrency: 1 },
  timeoutSeconds: 300,
  memoryMb: 1024,
  // The file that is imported.
  storageMb: 2048,
  scripts: true,
  run: (messages, deps: Deps) => eachMessage(messages, ({ body }) => runImport(deps, body as ImportMessage)),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
