import type { Preferences } from "../../lib/workflows/schema/types.ts";
import {
  type Arguments,
  type Command,
  CommandFailure,
  EXIT_CANCELLED,
  type Flag,
  type Terminal,
  textFlag,
  UsageError,
} from "../command.ts";
import {
  type Connection,
  connect,
  connectTo,
  NoAnswer,
  Refused,
  SERVER_FLAGS,
  withServerFlags,
} from "../connection.ts";
import { PARAM_FLAG, paramFlags, readTargets, textFlags } from "../flags.ts";
import { onInterrupt } from "../interrupts.ts";
import { printPlan } from "../plan.ts";
import { REPEAT_FLAGS, repetitionOf, rest } from "../repetition.ts";
import { endAs } from "../run-end.ts";
import { followRuns, runPath } from "../run-progress.ts";
import { isWorkflowFile, withThoseBeside } from "../workflow-files.ts";
import { readWorkflow, saveFile } from "../workflows.ts";

const PRIORITIES = ["low", "normal", "high", "critical"] as const;
const HEALTH_MS = 2_000;

/** What runs may be given, besides the workflow. */
const START_FLAGS = {
  target: {
    type: "string",
    short: "t",
    value: "TARGET",
    summary: "What it runs on, a run each",
    multiple: true,
  },
  targets: { type: "string", short: "T", value: "FILE", summary: "A file of targets, a line each" },
  param: PARAM_FLAG,
  workspace: {
    type: "string",
    short: "w",
    value: "NAME",
    summary: "The workspace; else named by the target",
  },
  priority: { type: "string", value: "NAME", summary: PRIORITIES.join(", "), choices: PRIORITIES },
  concurrency: {
    type: "string",
    short: "c",
    value: "COUNT",
    whole: true,
    summary: "Runs at the same time, of many targets (1)",
  },
  timeout: { type: "string", value: "MINUTES", whole: true, summary: "The run fails after so long" },
} as const satisfies Readonly<Record<string, Flag>>;

/** `weft run`: one workflow, from its start to its end. */
export const run: Command = {
  name: "run",
  summary: "Runs a workflow, shows its steps, and ends as it ends",
  usage: "<name | file.yaml> [-t TARGET]... [-T FILE] [-p KEY=VALUE]... [-w NAME]",
  flags: {
    ...START_FLAGS,
    output: { type: "boolean", short: "o", summary: "Show what each step wrote" },
    detach: { type: "boolean", short: "d", summary: "Print the id of the run and leave it to the server" },
    ...REPEAT_FLAGS,
    "dry-run": { type: "boolean", summary: "Show what would be done, and execute nothing" },
    ...SERVER_FLAGS,
    "data-dir": {
      type: "string",
      value: "FOLDER",
      summary: "The server's data folder (WEFT_DATA_DIR, ./.weft); a run without a server is kept in it",
    },
  },
  examples: [
    ["weft run scan -t example.com -p depth=2", "runs a stored module or flow"],
    ["weft run ./hello.yaml -o", "stores the file's workflow first; starts a server for it where none runs"],
    [
      "weft run scan -T targets.txt -c 4 --json",
      "a run for each line, four at a time; their records at last",
    ],
    ["weft run watch -t example.com --repeat --repeat-wait 1h", "again an hour after each end"],
    ["weft run scan -t example.com --dry-run", "the steps as they would be"],
  ],
  exits: [
    ["0", "the run was completed"],
    ["1", "it failed, or could not be started"],
    ["2", "called wrongly"],
    ["130", "it was cancelled, with Ctrl-C or otherwise; a second Ctrl-C leaves at once"],
  ],
  run: async (args, terminal) => {
    const [workflow, ...more] = args.positionals;
    if (workflow === undefined) throw new UsageError("run takes the name of a workflow, or a YAML file.");
    if (more.length > 0) throw new UsageError(`'${more[0]}' is one word too many.`);
    const body = bodyOf(args);
    // What is wrong with the flags is said before anything is stored.
    repetitionOf(args, {});
    const isFile = workflow === "-" || isWorkflowFile(workflow) || workflow.includes("/");
    const server = isFile ? await runningServer(args, terminal) : connect(args, terminal);
    if (server !== undefined) await runOn(server, { workflow, isFile, body }, args, terminal);
    else await runAlone(workflow, body, args, terminal);
  },
};

type Body = Readonly<Record<string, unknown>>;

/** Throws UsageError, and CommandFailure for a file of targets. */
function bodyOf(args: Arguments): Body {
  const file = textFlag(args, "targets");
  const targets = [...textFlags(args, "target"), ...(file === undefined ? [] : readTargets(file))];
  if (file !== undefined && targets.length === 0) throw new CommandFailure(`There is no target in ${file}.`);
  const workspace = textFlag(args, "workspace");
  const priority = textFlag(args, "priority");
  const concurrency = textFlag(args, "concurrency");
  const timeout = textFlag(args, "timeout");
  return {
    ...(targets.length > 1 ? { targets } : targets.length === 1 ? { target: targets[0] } : {}),
    params: paramFlags(args),
    ...(workspace === undefined ? {} : { workspace }),
    ...(priority === undefined ? {} : { priority }),
    ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
    ...(timeout === undefined ? {} : { timeout: Number(timeout) }),
  };
}

/** The server that is meant; undefined where none was named and none runs. Throws CommandFailure for one that was. */
async function runningServer(args: Arguments, terminal: Terminal): Promise<Connection | undefined> {
  const named = withServerFlags(args, terminal);
  if (named.env.WEFT_URL) return connect(args, terminal);
  try {
    const connection = connect(args, terminal);
    await connection.open("GET", "/health", { timeoutMs: HEALTH_MS });
    return connection;
  } catch (error) {
    // What answers there may be something else altogether.
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

interface Asked {
  readonly workflow: string;
  readonly isFile: boolean;
  readonly body: Body;
  /** The server is gone with the run. */
  readonly alone?: boolean;
}

/** Starts a server for this run alone. */
async function runAlone(workflow: string, body: Body, args: Arguments, terminal: Terminal): Promise<void> {
  if (args.flags.detach === true)
    throw new CommandFailure("There is no server to leave the run to.", "Start one with `npx weft start`.");
  // Loaded only here: with a server that runs, it is not needed.
  const { startSingleServer } = await import("../single-server.ts");
  let isAsked = false;
  let leave = (): void => {};
  // Until all is over: the server takes its time to stop.
  const undo = onInterrupt(
    () => {
      isAsked = true;
    },
    () => leave(),
  );
  try {
    const dataDir = textFlag(args, "data-dir");
    const server = await startSingleServer(terminal.env, dataDir);
    leave = () => server.kill();
    try {
      if (isAsked) throw new CommandFailure("The run was not started.", undefined, EXIT_CANCELLED);
      await runOn(connectTo(server, {}), { workflow, isFile: true, body, alone: true }, args, terminal);
    } finally {
      await server.stop();
    }
  } finally {
    undo();
  }
}

async function runOn(
  connection: Connection,
  asked: Asked,
  args: Arguments,
  terminal: Terminal,
): Promise<void> {
  const { workflow, isFile, alone = false } = asked;
  const name = isFile ? (await saveAll(connection, workflow)).name : workflow;
  const { definition, ...named } = await readWorkflow<Runnable>(connection, name);
  const { preferences = {} } = definition ?? {};
  const body = { [named.kind]: named.name, ...asked.body };
  if (args.flags["dry-run"] === true) {
    await printPlan(connection, body, args, terminal);
    return;
  }
  const pause = repetitionOf(args, preferences);
  const shown = {
    quiet: args.flags.json === true || preferences.ci_output_format === true,
    outputs: args.flags.output === true,
    detach: args.flags.detach === true,
    alone,
  };
  for (;;) {
    await runOnce(connection, named.name, body, shown, terminal);
    if (pause === undefined) return;
    await rest(pause);
  }
}

/** A stored workflow, as far as it matters to who runs it. */
interface Runnable {
  readonly name: string;
  readonly kind: string;
  readonly definition?: { readonly preferences?: Preferences };
}

interface Showing {
  readonly quiet: boolean;
  readonly outputs: boolean;
  readonly detach: boolean;
  readonly alone: boolean;
}

/** Throws CommandFailure where it does not end well. */
async function runOnce(
  connection: Connection,
  name: string,
  body: Body,
  { quiet, outputs, detach, alone }: Showing,
  terminal: Terminal,
): Promise<void> {
  const started = (await connection.request("POST", "/automation/runs", { body })) as Started;
  const ids = started.run_ids ?? [started.run_id];
  if (detach) {
    terminal.out(quiet ? `${JSON.stringify(started)}\n` : ids.map((id) => `${id}\n`).join(""));
    return;
  }
  if (!quiet) terminal.out(`${name}  ${ids.length === 1 ? `run ${ids[0]}` : `${ids.length} runs`}\n`);
  const undo = onInterrupt(
    () => {
      terminal.error("Cancelling; once more to leave at once.\n");
      void cancelAll(connection, ids);
    },
    () => {},
  );
  try {
    const runs = await followRuns(connection, ids, terminal, { quiet, outputs });
    if (quiet) terminal.out(`${JSON.stringify(runs.length === 1 ? runs[0] : runs)}\n`);
    endAs(runs, { quiet, alone }, terminal);
  } finally {
    undo();
  }
}

interface Started {
  readonly run_id: string;
  readonly run_ids?: readonly string[];
}

async function saveAll(connection: Connection, path: string): Promise<{ name: string; kind: string }> {
  let last: { name: string; kind: string } | undefined;
  for (const file of await withThoseBeside(path)) last = await saveFile(connection, file);
  if (last === undefined) throw new CommandFailure(`There is no workflow in ${path}.`);
  return last;
}

/** A run that is over by then stays as it is; where nobody answers, the runs are waited for as before. */
async function cancelAll(connection: Connection, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      await connection.request("DELETE", runPath(id));
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof NoAnswer)) throw error;
    }
  }
}
