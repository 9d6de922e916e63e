import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Files in a temporary folder, which is removed when disposed. */
export interface FixtureTree extends AsyncDisposable {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

const module = (path: string): string => JSON.stringify(new URL(`../${path}`, import.meta.url).href);
const zod = JSON.stringify(import.meta.resolve("zod"));

/** Source of an endpoint's file; `fields` are additional fields of the route. */
export function routeSource(fields: string): string {
  return `import * as z from ${zod};
import { pageQuery } from ${module("lib/http/page.ts")};
import { defineRoute } from ${module("lib/http/route.ts")};
import { documentsService } from ${module("lib/documents/service.ts")};
import { rootService, workflowsService } from ${module("lib/workflows/service.ts")};
const Event = z.object({ id: z.uuid(), topic: z.string() }).meta({ id: "FixtureEvent" });
export const route = defineRoute({
  service: workflowsService, method: "GET", summary: "What it does", tag: "events", auth: "required", status: 200,
  response: Event, run: async () => ({ id: "", topic: "" }), ${fields}
});
export const handler = async () => pageQuery && documentsService && rootService && undefined;
`;
}

/** Source of a consumer's file; `fields` are additional fields of the consumer. */
export function consumerSource(fields: string): string {
  return `import { defineConsumer } from ${module("lib/events/consumer.ts")};
export const consumer = defineConsumer({
  summary: "What it does", queue: { maxReceiveCount: 5, batchSize: 10, concurrency: 4 }, timeoutSeconds: 30,
  run: async () => undefined, ${fields}
});
export const handler = async () => undefined;
`;
}

/** A small tree with one file of each kind. */
export const FIXTURE_FILES: Readonly<Record<string, string>> = {
  "package.json": '{ "version": "1.2.3", "type": "module" }',
  "lib/tables.ts": `export const tables = {
  runs: { name: "runs", indexes: { "by-state": { pk: "state", sk: "sk" } } },
  events: { name: "event-log", indexes: {} },
};
`,
  "functions/workflows/health/read.ts": routeSource(
    'service: rootService, operationId: "readHealth", path: "/health", auth: "none"',
  ),
  "functions/workflows/events/emit.ts": routeSource(
    'operationId: "emitEvent", method: "POST", path: "/events/emit", body: z.object({ topic: z.string() }), bodyLimitBytes: 2048, errors: [409], memoryMb: 1024',
  ),
  "functions/workflows/event-logs/list.ts": routeSource(
    'operationId: "listEventLogs", path: "/event-logs", list: true, query: z.object({ ...pageQuery, topic: z.string().transform((text) => text.trim()).optional().meta({ description: "One topic" }) })',
  ),
  "functions/workflows/workflows/create.ts": routeSource(
    'operationId: "createWorkflow", method: "POST", path: "/workflows", status: 201, body: z.custom(() => true), bodyKind: "raw", bodyTypes: ["application/yaml", "application/json"]',
  ),
  "functions/workflows/runs/cancel.ts": routeSource(
    'operationId: "cancelRun", method: "DELETE", path: "/runs/{id}", status: 204, params: z.object({ id: z.uuid() })',
  ),
  "functions/workflows/fallback/unknown.ts": routeSource(
    'operationId: "unknownPath", method: "ANY", path: "/{proxy+}", auth: "required"',
  ),
  "functions/executors/bash.ts": consumerSource(
    'name: "bash", worker: true, executor: true, timeoutSeconds: 900, rule: { source: ["weft.commands"], detail: { type: ["bash"] } }',
  ),
  "functions/consumers/conduct.ts": consumerSource(
    'name: "conduct", queue: { fifo: true, maxReceiveCount: 8, batchSize: 5, concurrency: 16 }',
  ),
  "functions/consumers/index-events.ts": consumerSource(
    'name: "index-events", queue: { fifo: true, maxReceiveCount: 3, batchSize: 10, concurrency: 1 }, rule: { source: ["weft.events"] }',
  ),
  "functions/consumers/dead-letters.ts": consumerSource('name: "dead-letters", deadLetters: true'),
  "functions/schedules/fire.ts": consumerSource('name: "fire", schedule: "rate(1 minute)", memoryMb: 256'),
  "functions/schedules/fire.test.ts": "throw new Error('tests are not entry points');",
};

/** Makes a tree below the system's folder for temporary files. */
export async function makeTree(
  files: Readonly<Record<string, string>> = FIXTURE_FILES,
): Promise<FixtureTree> {
  const root = await mkdtemp(join(tmpdir(), "weft-tree-"));
  const write = async (more: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
  };
  await write(files);
  return { root, write, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}
