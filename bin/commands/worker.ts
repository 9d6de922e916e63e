import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type Arguments,
  type Command,
  CommandFailure,
  type Terminal,
  textFlag,
  UsageError,
} from "../command.ts";
import { LOCALSTACK } from "../localstack.ts";

const CONCURRENCY_MAX = 1_000;
/** SQS hides a message at most 12 hours. */
const LEASE_MAX_SECONDS = 43_200;
const LEASE_MIN_SECONDS = 5;
const INTERRUPTED = 130;
/** One Ctrl-C may arrive twice, from the terminal and from npm; a second one is a person's after this, milliseconds. */
const SECOND_INTERRUPT_MS = 250;

/** `weft worker`: executes the steps of a stack that touch files. */
export const worker: Command = {
  name: "worker",
  summary: "Executes the steps of a deployed stack that touch files or start commands",
  usage: "[--stack NAME] [--data-dir FOLDER] [--concurrency N] [--lease SECONDS] [--localstack]",
  flags: {
    stack: {
      type: "string",
      value: "NAME",
      summary: "The stack whose queues it takes steps from (WEFT_STACK, weft)",
    },
    "data-dir": {
      type: "string",
      value: "FOLDER",
      summary: "Workspaces, output and secrets of this worker alone (WEFT_DATA_DIR, ./.weft-worker)",
    },
    concurrency: { type: "string", value: "N", summary: "Steps at the same time, of each queue" },
    lease: {
      type: "string",
      value: "SECONDS",
      summary: "Another worker takes a step after so long without a sign (30)",
    },
    localstack: {
      type: "boolean",
      summary: "The stack is in LocalStack, at AWS_ENDPOINT_URL (http://127.0.0.1:4566)",
    },
  },
  examples: [
    ["AWS_REGION=eu-west-1 weft worker", "for the stack weft in that region, with this shell's credentials"],
    ["weft worker --localstack --concurrency 4", "for a server that runs over LocalStack"],
  ],
  run: async (args, terminal) => {
    if (args.positionals.length > 0) throw new UsageError(`'${args.positionals[0]}' is one word too many.`);
    const options = {
      environment: environmentOf(args, terminal),
      stack: textFlag(args, "stack") ?? (terminal.env["WEFT_STACK"] || "weft"),
      dataDir: textFlag(args, "data-dir") ?? (terminal.env["WEFT_DATA_DIR"] || "./.weft-worker"),
      concurrency: numberFlag(args, "concurrency", 1, CONCURRENCY_MAX),
      leaseSeconds: numberFlag(args, "lease", LEASE_MIN_SECONDS, LEASE_MAX_SECONDS),
      writeLog: (line: string) => terminal.error(line),
    };
    if (!knowsRegion(options.environment))
      throw new CommandFailure(
        "The AWS region of the stack is not known.",
        "Set AWS_REGION, or AWS_PROFILE for one of ~/.aws/config; --localstack needs neither.",
      );
    const stopped = untilStopped();
    // Loaded only here: the other commands start without it.
    const { startWorker } = await import("../../localstack/worker.ts");
    const running = await startWorker(options).catch((error: unknown) => {
      throw new CommandFailure(error instanceof Error ? error.message : String(error));
    });
    terminal.out(`weft worker ready  stack=${options.stack}  queues=${running.queues.join(",")}\n`);
    await stopped;
    await running.close();
    process.exit(0);
  },
};

function environmentOf(args: Arguments, terminal: Terminal): Terminal["env"] {
  if (args.flags["localstack"] !== true) return terminal.env;
  return { ...LOCALSTACK, ...Object.fromEntries(Object.entries(terminal.env).filter(([, value]) => value)) };
}

/** Without a region no queue is found, however long the worker waits. */
function knowsRegion(env: Terminal["env"]): boolean {
  if (env["AWS_REGION"] || env["AWS_DEFAULT_REGION"]) return true;
  if (Object.keys(env).some((name) => name.startsWith("AWS_ENDPOINT_URL") && env[name])) return true;
  return existsSync(env["AWS_CONFIG_FILE"] || join(homedir(), ".aws", "config"));
}

function numberFlag(args: Arguments, name: string, least: number, most: number): number | undefined {
  const text = textFlag(args, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}.`);
  return value;
}

/** The first signal asks for an orderly end, a second interrupt ends at once. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    process.on("SIGTERM", () => resolve());
    process.on("SIGINT", () => {
      if (asked !== undefined && performance.now() - asked > SECOND_INTERRUPT_MS) process.exit(INTERRUPTED);
      asked ??= performance.now();
      resolve();
    });
  });
}
