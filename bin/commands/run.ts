import { dataOf } from "../../client/api.ts";
import type { Preferences } from "../../lib/workflows/schema/types.ts";
import { WeftCommand } from "../command.ts";
import {
  type Connection,
  connect,
  connectIfRunning,
  connectTo,
  ErrorResponse,
  NoResponse,
  serverEnvironment,
} from "../connection.ts";
import { printDryRun } from "../dry-run.ts";
import { CommandFailure, EXIT_CANCELLED } from "../errors.ts";
import { readTargets } from "../files.ts";
import { onInterrupt } from "../interrupts.ts";
import {
  addServerOptions,
  choice,
  givenFields,
  type Params,
  paramOption,
  repeatable,
  type ServerOptions,
  wholeNumber,
} from "../options.ts";
import { addRepeatOptions, type RepeatOptions, repeatInterval, waitForNextRun } from "../repeat.ts";
import { reportOutcome } from "../run-outcome.ts";
import { cancelRun, followRuns } from "../run-progress.ts";
import { terminal } from "../terminal.ts";
import { isWorkflowFile, readWithDependencies } from "../workflow-files.ts";
import { type RunRequest, readWorkflow, saveFile } from "../workflow-requests.ts";

const PRIORITIES = ["low", "normal", "high", "critical"] as const;

interface RunOptions extends ServerOptions, RepeatOptions {
  readonly target?: readonly string[];
  readonly targets?: string;
  readonly param?: Params;
  readonly workspace?: string;
  readonly priority?: (typeof PRIORITIES)[number];
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly output?: boolean;
  readonly dryRun?: boolean;
}

const inputOptions = new WeftCommand("run")
  .description("Run a workflow, show its steps, and exit with its outcome")
  .argument("<name|file.yaml>", "Name of a stored workflow, a YAML file, or - for standard input")
  .addOption(repeatable("-t, --target <target>", "Target; each starts a run"))
  .option("-T, --targets <file>", "File of targets, one per line")
  .addOption(paramOption("A parameter"))
  .option("-w, --workspace <name>", "Workspace (default: named after the target)")
  .addOption(choice("--priority <name>", "Priority of the runs", PRIORITIES))
  .addOption(
    wholeNumber("-c, --concurrency <count>", "Runs at the same time, with several targets (default: 1)"),
  )
  .addOption(wholeNumber("--timeout <minutes>", "Time after which a run fails"))
  .option("-o, --output", "Print the output of each step")
  .option("-d, --detach", "Print the run's id and exit; the server continues the run");

export const run = addServerOptions(
  addRepeatOptions(inputOptions).option("--dry-run", "Show what a run would do, and execute nothing"),
)
  .addHelpText(
    "after",
    "\nWithout a server, `run` starts one for the run of a file, with a temporary data folder or that of --data-dir.",
  )
  .example("weft run scan -t example.com -p depth=2", "runs a stored module or flow")
  .example("weft run ./hello.yaml -o", "stores the file's workflow first; needs no server")
  .example("weft run scan -T targets.txt -c 4 --json", "a run per line, four at a time; prints their records")
  .example("weft run watch -t example.com --repeat --repeat-wait 1h", "repeats one hour after each run")
  .example("weft run scan -t example.com --dry-run", "lists the steps without executing them")
  .exits("0", "the run was completed")
  .exits("1", "it failed or could not be started")
  .exits("2", "invalid command line")
  .exits("130", "it was cancelled, by Ctrl-C or otherwise; a second Ctrl-C exits immediately")
  .action(async (workflow: string, options: RunOptions) => {
    const body = runRequest(options);
    // Reports invalid options before a workflow is stored.
    repeatInterval(options, {});
    const isFile = workflow === "-" || isWorkflowFile(workflow) || workflow.includes("/");
    const isServerRequired = !isFile || Boolean(serverEnvironment(options).WEFT_URL);
    const connection = isServerRequired ? connect(options) : await connectIfRunning(options);
    if (connection !== undefined) await runWorkflow({ connection, workflow, isFile, body }, options);
    else await runWithoutServer(workflow, body, options);
  });

/** Throws CommandFailure if the file of targets cannot be read. */
function runRequest(options: RunOptions): RunRequest {
  const { targets: file, workspace, priority, concurrency, timeout } = options;
  const targets = [...(options.target ?? []), ...(file === undefined ? [] : readTargets(file))];
  if (file !== undefined && targets.length === 0) throw new CommandFailure(`${file} contains no target.`);
  const targetFields = targets.length > 1 ? { targets } : { target: targets[0] };
  return givenFields({
    ...targetFields,
    params: options.param ?? {},
    workspace,
    priority,
    concurrency,
    timeout,
  });
}

interface RunTask {
  readonly connection: Connection;
  readonly workflow: string;
  readonly isFile: boolean;
  readonly body: RunRequest;
  /** Whether the server exits after the run. */
  readonly isTemporary?: boolean;
}

/** Starts a server for this run, and stops it afterwards. */
async function runWithoutServer(workflow: string, body: RunRequest, options: RunOptions): Promise<void> {
  if (options.detach === true)
    throw new CommandFailure(
      "--detach requires a running server, which continues the run.",
      "Start a server with `npx weft start`.",
    );
  // Imported here because it is not needed with a running server.
  const { startTemporaryServer } = await import("../temporary-server.ts");
  let isInterrupted = false;
  let killServer = (): void => {};
  // Removed after the server has stopped, which takes time.
  const removeHandlers = onInterrupt(
    () => {
      isInterrupted = true;
    },
    () => killServer(),
  );
  try {
    const server = await startTemporaryServer(options.dataDir);
    killServer = () => server.kill();
    try {
      if (isInterrupted)
        throw new CommandFailure("Interrupted: the run was not started.", undefined, EXIT_CANCELLED);
      const connection = connectTo(server, {});
      await runWorkflow({ connection, workflow, isFile: true, body, isTemporary: true }, options);
    } finally {
      await server.stop();
    }
  } finally {
    removeHandlers();
  }
}

async function runWorkflow(task: RunTask, options: RunOptions): Promise<void> {
  const { connection } = task;
  const storedName = task.isFile ? (await storeFile(connection, task.workflow)).name : task.workflow;
  const { name, kind, definition } = await readWorkflow(connection, storedName);
  const { preferences = {} } = (definition ?? {}) as { readonly preferences?: Preferences };
  const body = { [kind]: name, ...task.body };
  if (options.dryRun === true) {
    await printDryRun(connection, body, options);
    return;
  }
  const interval = repeatInterval(options, preferences);
  const isQuiet = options.json === true || preferences.ci_output_format === true;
  for (;;) {
    await runOnce(name, { ...task, body }, { ...options, isQuiet });
    if (interval === undefined) return;
    await waitForNextRun(interval);
  }
}

/** Throws CommandFailure if a run is not completed. */
async function runOnce(
  name: string,
  { connection, body, isTemporary = false }: RunTask,
  { isQuiet, output, detach }: RunOptions & { readonly isQuiet: boolean },
): Promise<void> {
  if (detach === true) {
    const started = await startRuns(connection, body);
    terminal.out(
      isQuiet
        ? `${JSON.stringify(started)}\n`
        : idsOf(started)
            .map((id) => `${id}\n`)
            .join(""),
    );
    return;
  }
  let ids: readonly string[] = [];
  let isInterrupted = false;
  // Before the request: a run that it starts is cancelled as well if Ctrl-C comes before its response.
  const removeHandlers = onInterrupt(
    () => {
      isInterrupted = true;
      terminal.error("Cancelling the run; press Ctrl-C again to exit immediately.\n");
      void cancelAll(connection, ids);
    },
    () => {},
  );
  try {
    ids = idsOf(await startRuns(connection, body));
    if (isInterrupted) void cancelAll(connection, ids);
    if (!isQuiet) terminal.out(`${name}  ${ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`}\n`);
    const runs = await followRuns(connection, ids, { isQuiet, withOutput: output === true });
    if (isQuiet) terminal.out(`${JSON.stringify(runs.length === 1 ? runs[0] : runs)}\n`);
    reportOutcome(runs, { isQuiet, isTemporary });
  } finally {
    removeHandlers();
  }
}

const startRuns = ({ api }: Connection, body: RunRequest) => dataOf(api.POST("/automation/runs", { body }));

const idsOf = ({ run_ids, run_id }: Awaited<ReturnType<typeof startRuns>>): readonly string[] =>
  run_ids ?? [run_id];

/** Stores the workflow of a file after its dependencies, and returns it. */
async function storeFile(connection: Connection, path: string): Promise<{ name: string; kind: string }> {
  let last: { name: string; kind: string } | undefined;
  for (const file of await readWithDependencies(path)) last = await saveFile(connection, file);
  if (last === undefined) throw new CommandFailure(`${path} contains no workflow.`);
  return last;
}

/** Ignores runs that have finished and a server that does not respond: the command waits for the outcome anyway. */
async function cancelAll(connection: Connection, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      await cancelRun(connection, id);
    } catch (error) {
      if (!(error instanceof ErrorResponse) && !(error instanceof NoResponse)) throw error;
    }
  }
}
