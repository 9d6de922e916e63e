import { dirname } from "node:path";
import { readTemplate, type TemplateFunction } from "../localstack/template.ts";

/** The resources of the template as `GET /automation/platform` lists them, as JSON. */
export function resourcesJson(templateFile: string): string {
  const { functions, resources } = readTemplate(templateFile);
  const parts = {
    functions: functions.map((fn) => ({
      name: fn.logicalId,
      kind: kindOf(fn),
      routes: fn.routes.map(({ method, path }) => `${method} ${path}`),
      queues: fn.sources.map(({ queue }) => queue),
      timeout_seconds: fn.timeoutSeconds,
      memory_mb: fn.memoryMb,
    })),
    queues: resources.queues.map(({ name, fifo, deadLetter }) => ({
      name,
      fifo,
      dead_letter_queue: deadLetter?.queue ?? null,
      max_receive_count: deadLetter?.maxReceiveCount ?? null,
    })),
    rules: resources.rules.map(({ name, pattern, queues }) => ({ name, pattern, queues })),
    schedules: resources.schedules,
    tables: resources.tables.map(({ name, indexes }) => ({ name, indexes: Object.keys(indexes) })),
  };
  const lists = Object.entries(parts).map(([name, rows]) => {
    const lines = rows.map((row) => JSON.stringify(row));
    return `${JSON.stringify(name)}: [\n${lines.join(",\n")}\n]`;
  });
  return `{\n${lists.join(",\n")}\n}\n`;
}

const KINDS = { executors: "executor", consumers: "consumer", schedules: "schedule" } as const;

function kindOf({ entry, routes }: TemplateFunction): string {
  if (routes.length > 0) return "endpoint";
  const folder = dirname(entry).split("/").at(-1) ?? "";
  return Object.hasOwn(KINDS, folder) ? KINDS[folder as keyof typeof KINDS] : "consumer";
}
