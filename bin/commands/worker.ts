import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { WeftCommand } from "../command.ts";
import { CommandFailure, messageOf } from "../errors.ts";
import { onInterrupt } from "../interrupts.ts";
import { LOCALSTACK_DEFAULTS } from "../localstack-defaults.ts";
import { wholeNumber } from "../options.ts";
import { type Terminal, terminal } from "../terminal.ts";

const CONCURRENCY_MAX = 1_000;
/** The maximum visibility timeout of SQS. */
const LEASE_MAX_SECONDS = 43_200;
const LEASE_MIN_SECONDS = 5;

interface WorkerOptions {
  readonly stack?: string;
  readonly dataDir?: string;
  readonly concurrency?: number;
  readonly lease?: number;
  readonly localstack?: boolean;
}

export const worker = new WeftCommand("worker")
  .description("Execute the steps of a deployed stack that use files or start commands")
  .option("--stack <name>", "Stack whose queues it polls (default: WEFT_STACK, else weft)")
  .option(
    "--data-dir <folder>",
    "Folder for workspaces, output and secrets of this worker (default: WEFT_DATA_DIR, else ./.weft-worker)",
  )
  .addOption(wholeNumber("--concurrency <count>", "Steps at the same time, per queue", 1, CONCURRENCY_MAX))
  .addOption(
    wholeNumber(
      "--lease <seconds>",
      "Time without a heartbeat after which another worker takes over a step (default: 30)",
      LEASE_MIN_SECONDS,
      LEASE_MAX_SECONDS,
    ),
  )
  .option("--localstack", "The stack is in LocalStack, at AWS_ENDPOINT_URL (default: http://127.0.0.1:4566)")
  .example(
    "AWS_REGION=eu-west-1 weft worker",
    "works for the stack weft in a region, with this shell's credentials",
  )
  .example("weft worker --localstack --concurrency 4", "works for a server that uses LocalStack")
  .action(runWorker);

async function runWorker(options: WorkerOptions): Promise<void> {
  const environment = workerEnvironment(options);
  if (!hasRegion(environment))
    throw new CommandFailure(
      "The AWS region of the stack is not set.",
      "Set AWS_REGION, or AWS_PROFILE to a profile in ~/.aws/config; --localstack needs neither.",
    );
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
  onInterrupt(stop, () => {});
  // Imported here because the other commands do not need it.
  const { startWorker } = await import("../../localstack/worker.ts");
  const stack = options.stack ?? (terminal.env.WEFT_STACK || "weft");
  const running = await startWorker({
    environment,
    stack,
    dataDir: options.dataDir ?? (terminal.env.WEFT_DATA_DIR || "./.weft-worker"),
    concurrency: options.concurrency,
    leaseSeconds: options.lease,
    writeLog: (line: string) => terminal.error(line),
  }).catch((error: unknown) => {
    throw new CommandFailure(messageOf(error));
  });
  terminal.out(`weft worker ready  stack=${stack}  queues=${running.queues.join(",")}\n`);
  await stopRequested;
  await running.close();
  process.exit(0);
}

function workerEnvironment({ localstack }: WorkerOptions): Terminal["env"] {
  if (localstack !== true) return terminal.env;
  const given = Object.entries(terminal.env).filter(([, value]) => value);
  return { ...LOCALSTACK_DEFAULTS, ...Object.fromEntries(given) };
}

/** Without a region the worker would wait for its queues forever. */
function hasRegion(env: Terminal["env"]): boolean {
  if (env.AWS_REGION || env.AWS_DEFAULT_REGION) return true;
  if (Object.keys(env).some((name) => name.startsWith("AWS_ENDPOINT_URL") && env[name])) return true;
  return existsSync(env.AWS_CONFIG_FILE || join(homedir(), ".aws", "config"));
}
