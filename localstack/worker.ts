import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { openWorker } from "../lib/app/worker.ts";
import { jsonLog } from "../lib/platform/json-log.ts";
import { readSetting } from "../lib/settings/read.ts";
import { createFunctions } from "./functions.ts";
import { installLambdaRuntime } from "./lambda-runtime.ts";
import { startPollers } from "./pollers.ts";
import { limitSteps } from "./step-limiter.ts";
import type { TemplateFunction } from "./template.ts";
import { readTemplateOnce } from "./template-cache.ts";

const TEMPLATE_PATH = fileURLToPath(new URL("../template.yaml", import.meta.url));
/** Time for steps in progress when the worker stops, milliseconds; then they return to their queues. */
const DRAIN_MS = 10_000;

export interface WorkerOptions {
  /** Endpoints, region and credentials of AWS. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stack: string;
  /** The worker's own folder: workspaces, output of steps, the secrets file. */
  readonly dataDir: string;
  /** Limit of concurrent steps of each queue. Default: as in the template. */
  readonly concurrency?: number | undefined;
  /** Visibility timeout: a step whose worker does not extend it goes to another worker. Default 30. */
  readonly leaseSeconds?: number | undefined;
  readonly writeLog: (line: string) => void;
}

export interface RunningWorker {
  /** Queues that it polls. */
  readonly queues: readonly string[];
  close(): Promise<void>;
}

/** Starts executing the steps of the stack's worker queues. Rejects if a setting is invalid or AWS does not respond. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { environment, stack, dataDir } = options;
  const template = readTemplateOnce(TEMPLATE_PATH, dataDir);
  let redact = (line: string): string => line;
  const log = jsonLog({ write: options.writeLog, level: "info", redact: (line) => redact(line) });
  const opened = await openWorker({ dataDir, stack, resources: template.resources, log, environment });
  redact = (line) => opened.deps.secrets.redact(line);
  installLambdaRuntime();
  const functions = template.functions
    .filter(({ worker }) => worker)
    .map((fn) => withConcurrency(fn, options.concurrency));
  const pollers = startPollers({
    functions,
    invoke: createFunctions({ root: dirname(TEMPLATE_PATH), deps: opened.deps }),
    queues: opened.queues,
    heldSeconds: options.leaseSeconds,
    log,
    noteLastFailure: (failure) => opened.deps.noteLastFailure(failure),
    ...limitSteps(template, readSetting(environment, "STEPS_CONCURRENCY_MAX")),
  });
  const queues = functions.flatMap(({ sources }) => sources.map(({ queue }) => queue));
  log.info("worker started", { stack, queues, pid: process.pid });
  return {
    queues,
    close: async () => {
      log.info("worker stopping");
      await pollers.drain(DRAIN_MS);
      await opened.close();
      log.info("worker stopped");
    },
  };
}

function withConcurrency(fn: TemplateFunction, concurrency: number | undefined): TemplateFunction {
  if (concurrency === undefined) return fn;
  return { ...fn, sources: fn.sources.map((source) => ({ ...source, concurrency })) };
}
