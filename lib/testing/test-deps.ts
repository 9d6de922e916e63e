import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findFailedReceipts, queueEvent } from "../../localstack/queue-event.ts";
import type { TemplateFunction, TemplateSource } from "../../localstack/template.ts";
import { readTemplateOnce } from "../../localstack/template-cache.ts";
import { composeDocumentDeps, type DocumentDeps } from "../app/compose.ts";
import { type OwnCalls, withOwnCalls } from "../app/local.ts";
import { isUploadAllowed } from "../documents/content/upload-urls.ts";
import type { ConsumerHandler, QueueEvent } from "../events/consumer.ts";
import { hashToken, ownerAuthenticator } from "../http/auth.ts";
import { folderMailer } from "../mail/mail-folder.ts";
import type { UploadReceiver } from "../platform/blobs.ts";
import type { CommandRequest } from "../platform/commands.ts";
import type { Converter } from "../platform/converter.ts";
import { CrashError, type HostileOptions } from "../platform/embedded/hostile.ts";
import { openEmbedded } from "../platform/embedded/platform.ts";
import type { Fields, Log } from "../platform/log.ts";
import type { Renderer } from "../platform/renderer.ts";
import type { Resources } from "../platform/resources.ts";
import type { ScriptOutcome, ScriptRequest } from "../platform/scripts.ts";
import { readConfig } from "../settings/config.ts";
import type { Remote } from "../workflows/remote/machine.ts";
import { flushLogs } from "../workflows/steps/run-log.ts";
import { fireTriggers } from "../workflows/triggers/fire-triggers.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The template of this checkout. */
export const template = readTemplateOnce(
  join(ROOT, "template.yaml"),
  join(ROOT, "node_modules/.cache/weft-tests"),
);
/** Start time of a test's clock: a Monday, on the hour. */
export const TEST_START_MS = Date.parse("2026-03-02T10:00:00Z");

/** The token that test dependencies accept. */
export const TEST_TOKEN = "a-token-for-tests-only";

/** A clock that only moves when told to. */
export interface TestClock {
  now(): number;
  /** Moves the clock forward, or back. */
  advance(milliseconds: number): void;
}

export function testClock(startMs = TEST_START_MS): TestClock {
  let now = startMs;
  return {
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
  };
}

export interface LogRecord {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Fields;
}

export interface TestDepsOptions {
  /** A data folder that outlives the test platform; by default a temporary one. */
  readonly folder?: string;
  readonly clock?: TestClock;
  readonly hostile?: HostileOptions;
  readonly receiverEnabled?: boolean;
  readonly firesPerMinute?: number;
  /** Settings by environment variable. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fake of the program that a step starts: its exit code and output. By default it succeeds without output. */
  readonly command?: (request: CommandRequest) => Promise<{ exitCode?: number; stdout?: string }>;
  /** Fake of containers and SSH hosts; none by default. */
  readonly remote?: Remote;
  /** Fake of the converter process; none by default. */
  readonly converter?: Converter;
  /** Fake of the renderer process; none by default. */
  readonly renderer?: Renderer;
  /** Fake of the script evaluator: the script's value, `true` by default. */
  readonly script?: (request: ScriptRequest) => Promise<Partial<Extract<ScriptOutcome, { ok: true }>>>;
}

export interface TestDeps {
  readonly deps: DocumentDeps & OwnCalls;
  readonly clock: TestClock;
  /** Receives uploads, as the gateway does. */
  readonly uploads: UploadReceiver;
  readonly folder: string;
  readonly logs: readonly LogRecord[];
  /** Commands that were started, in order. */
  readonly commands: readonly CommandRequest[];
  /**
   * Passes every message to the function that the template has for its queue, as the pollers do, until the queues are
   * empty, except for the functions in `but`. Returns the number of messages. Throws Crashed.
   */
  drain(but?: readonly string[]): Promise<number>;
  /** Fires due timers and scheduled rules, then drains. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

/**
 * All services on the embedded platform in their own folder, with the queues and rules of the template, a fixed clock,
 * and fakes of commands and scripts. Nothing runs in the background.
 */
export async function testDeps(options: TestDepsOptions = {}): Promise<TestDeps> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "weft-deps-")));
  const clock = options.clock ?? testClock();
  const logs: LogRecord[] = [];
  const commands: CommandRequest[] = [];
  const platform = await openEmbedded({
    dataDir: folder,
    resources: withoutSchedules(template.resources),
    clock,
    log: memoryLog(logs),
    commands: {
      run: async (request) => {
        commands.push(request);
        const { exitCode = 0, stdout = "" } = (await options.command?.(request)) ?? {};
        await writeFile(request.stdoutPath, stdout);
        await writeFile(request.stderrPath, "");
        const stdoutBytes = Buffer.byteLength(stdout);
        const ended = { signal: null, timedOut: false, aborted: request.signal?.aborted === true };
        return { exitCode, ...ended, durationMs: 1, stdoutBytes, stderrBytes: 0 };
      },
    },
    scripts: {
      run: async (request) => {
        const outcome = await options.script?.(request);
        return { ok: true, value: true, events: [], logs: [], ...outcome };
      },
    },
    ...(options.hostile === undefined ? {} : { hostile: options.hostile }),
  });
  const receiver = options.receiverEnabled === false ? "false" : "true";
  const config = readConfig({
    EVENT_RECEIVER_ENABLED: receiver,
    ...options.settings,
    TRIGGER_FIRES_PER_MINUTE: options.firesPerMinute?.toString(),
  });
  const composed = composeDocumentDeps(platform.ports, config, {
    auth: ownerAuthenticator(hashToken(TEST_TOKEN)),
    paths: {
      workspacesDir: join(folder, "workspaces"),
      logsDir: join(folder, "runs"),
      snapshotsDir: join(folder, "snapshots-unfinished"),
    },
    fireTriggers,
    queueNames: template.resources.queues.map(({ name }) => name),
    sharesWorkspaces: false,
    layMails: (from) => folderMailer(join(folder, "mail"), from),
    ...(options.remote === undefined ? {} : { remote: options.remote }),
    ...(options.converter === undefined ? {} : { converter: options.converter }),
    ...(options.renderer === undefined ? {} : { renderer: options.renderer }),
  });
  const deps = withOwnCalls(composed);
  const drain = (but: readonly string[] = []): Promise<number> => drainQueues(deps, but);
  return {
    deps,
    clock,
    uploads: { ...platform.uploads, isAllowed: (upload) => isUploadAllowed(deps, upload) },
    folder,
    logs,
    commands,
    drain,
    tick: async () => {
      await platform.poke();
      await drain();
    },
    close: async () => {
      await platform.close();
      await flushLogs(folder);
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Tests call the functions of schedules themselves. */
function withoutSchedules(resources: Resources): Resources {
  return { ...resources, schedules: [] };
}

function memoryLog(records: LogRecord[], fixed: Fields = {}): Log {
  const at =
    (level: LogRecord["level"]) =>
    (message: string, fields: Fields = {}) => {
      records.push({ level, message, fields: { ...fixed, ...fields } });
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => memoryLog(records, { ...fixed, ...fields }),
  };
}

const consumers = template.functions
  .filter(({ sources }) => sources.length > 0)
  .map((fn) => ({ fn, name: fn.entry.split("/").at(-1)?.replace(/\.ts$/, "") ?? "" }));

/** Rounds without a message before the queues count as empty: a hostile queue may delay one. */
const EMPTY_ROUNDS = 2;
const ROUNDS_MAX = 20_000;

async function drainQueues(deps: DocumentDeps, but: readonly string[]): Promise<number> {
  const deletions: Promise<unknown>[] = [];
  let delivered = 0;
  let empty = 0;
  try {
    for (let round = 0; empty < EMPTY_ROUNDS; round += 1) {
      if (round > ROUNDS_MAX) throw new Error("the queues do not become empty");
      const counts = await Promise.all(
        consumers
          .filter(({ name }) => !but.includes(name))
          .flatMap(({ fn }) => fn.sources.map((source) => deliverBatch(deps, fn, source, deletions))),
      );
      const count = counts.reduce((sum, one) => sum + one, 0);
      delivered += count;
      if (count > 0 || deletions.length === 0) empty = count === 0 ? empty + 1 : 0;
      // A deletion may make the next message of a FIFO group visible.
      else await Promise.all(deletions.splice(0));
      // A message moves to a dead-letter queue after the receive that exceeds its receive count: this commit follows.
      if (count === 0) await deps.timers.cancel("none");
    }
  } finally {
    await Promise.allSettled(deletions);
  }
  return delivered;
}

/** Adds the deletion of messages to `deletions` without waiting for it: a queue deletes messages only every 20 ms. */
async function deliverBatch(
  deps: DocumentDeps,
  fn: TemplateFunction,
  source: TemplateSource,
  deletions: Promise<unknown>[],
): Promise<number> {
  const { queue, batchSize, visibilitySeconds } = source;
  const messages = await deps.queues.receive(queue, { max: batchSize, visibilitySeconds, waitSeconds: 0 });
  if (messages.length === 0) return 0;
  const handler = await handlerOf(fn);
  const event: QueueEvent = queueEvent(queue, messages);
  const failed = findFailedReceipts(messages, await handler(event, { weft: deps }));
  const done = messages.filter(({ receipt }) => !failed.has(receipt)).map(({ receipt }) => receipt);
  if (done.length > 0) {
    const deletion = deps.queues.delete(queue, done);
    // A failure is thrown once all messages are delivered.
    deletion.catch(() => {});
    deletions.push(deletion);
  }
  for (const receipt of failed) await deps.queues.changeVisibility(queue, receipt, 0);
  return messages.length;
}

async function handlerOf(fn: TemplateFunction): Promise<ConsumerHandler> {
  const module = (await import(pathToFileURL(join(ROOT, fn.entry)).href)) as Record<string, ConsumerHandler>;
  const handler = module[fn.handlerExport];
  if (handler === undefined) throw new Error(`${fn.entry} has no ${fn.handlerExport}`);
  return handler;
}

/** Whether a hostile platform threw this error to simulate a crash. */
export const isCrash = (error: unknown): boolean => error instanceof CrashError;
