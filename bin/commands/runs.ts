import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { UsageError } from "../errors.ts";
import {
  addPageOptions,
  addServerOptions,
  choice,
  type Params,
  paramOption,
  type ServerOptions,
} from "../options.ts";
import { printList, printResponse, readData } from "../responses.ts";
import { elapsed, FINISHED, type RunRecord, runPath, type StepRecord } from "../run-progress.ts";
import {
  type Column,
  fieldList,
  formatDuration,
  formatParams,
  formatTime,
  statusColor,
  table,
} from "../table.ts";
import { terminal } from "../terminal.ts";

const RUNS = "/automation/runs";
const STATUSES = ["pending", "running", "completed", "failed", "cancelled"];

const COLUMNS: readonly Column<RunRecord>[] = [
  { header: "RUN", value: ({ run_id }) => run_id },
  { header: "STATUS", value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  { header: "WORKFLOW", value: ({ workflow_name }) => workflow_name, canShrink: true },
  { header: "TARGET", value: ({ target }) => target, canShrink: true },
  {
    header: "STEPS",
    value: ({ completed_steps, total_steps }) => `${completed_steps}/${total_steps}`,
    align: "right",
  },
  { header: "TOOK", value: elapsedOrEmpty, align: "right" },
  { header: "BY", value: ({ trigger_type }) => trigger_type },
  { header: "CREATED", value: ({ created_at }) => formatTime(created_at), canShrink: true },
];

const STEP_COLUMNS: readonly Column<StepRecord>[] = [
  { header: "STEP", value: ({ step_name }) => step_name },
  { header: "MODULE", value: ({ module }) => module, canShrink: true },
  { header: "TYPE", value: ({ step_type }) => step_type },
  { header: "STATUS", value: ({ status }) => status, color: ({ status }) => statusColor(status) },
  {
    header: "TOOK",
    value: ({ status, duration_ms }) => (status === "skipped" ? "" : formatDuration(duration_ms)),
    align: "right",
  },
  { header: "TRY", value: ({ attempt }) => String(attempt), align: "right" },
  { header: "OUTPUT", value: ({ error_message, output }) => error_message || output, canShrink: true },
];

function elapsedOrEmpty(run: RunRecord): string {
  return run.started_at === null && !FINISHED.has(run.status) ? "" : elapsed(run);
}

export const runs = addServerOptions(new WeftCommand("runs"))
  .description("List, show, cancel and repeat runs")
  .example("weft runs --status failed --limit 5", "the last five runs that failed")
  .example("weft runs show 018f2c…", "a run and its steps")
  .example("weft runs cancel 018f2c…", "cancels a run and ends the processes of its steps")
  .example("weft runs cancel --root-cause 018f2c…", "cancels all runs that an event or a run led to")
  .example("weft runs rerun 018f2c… -p depth=3", "starts the run again with one parameter changed");

addPageOptions(
  runs
    .defaultCommand("list")
    .description("List runs, newest first")
    .addOption(choice("--status <status>", "Runs with this status", STATUSES))
    .option("--workflow <name>", "Runs of this workflow")
    .option("-t, --target <text>", "Runs whose target contains the text")
    .option("-w, --workspace <name>", "Runs in this workspace"),
).action((_options, command: WeftCommand) =>
  printList<RunRecord>(
    { path: RUNS, filters: ["status", "workflow", "target", "workspace"], columns: COLUMNS },
    command.optsWithGlobals(),
  ),
);

runs
  .command("show <run>")
  .description("Show a run and its steps")
  .action((id: string, _options, command: WeftCommand) => show(id, command.optsWithGlobals()));

runs
  .command("steps <run>")
  .description("List the steps of a run in the order in which they started")
  .action(async (id: string, _options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const data = await readData<StepRecord[]>(connect(options), `${runPath(id)}/steps`);
    printResponse({ data }, table(STEP_COLUMNS, data, terminal.width), options);
  });

runs
  .command("cancel [run]")
  .description("Cancel a run, or all runs of a root cause, workflow or trigger")
  .option("--workflow <name>", "All runs of this workflow")
  .option("--trigger <name>", "All runs that this trigger started")
  .option("--root-cause <id>", "All runs that this event or run led to; it starts no further runs")
  .action((id: string | undefined, _options, command: WeftCommand) => cancel(id, command.optsWithGlobals()));

runs
  .command("rerun <run>")
  .description("Start a run with the same input, and optionally other parameters")
  .addOption(paramOption("A parameter to change"))
  .action((id: string, _options, command: WeftCommand) => repeat(id, "rerun", command.optsWithGlobals()));

runs
  .command("resume <run>")
  .description("Continue a failed run at the step that failed, as a new run")
  .action((id: string, _options, command: WeftCommand) => repeat(id, "resume", command.optsWithGlobals()));

async function show(id: string, options: ServerOptions): Promise<void> {
  const connection = connect(options);
  const run = await readData<RunRecord & { params: Record<string, string> }>(connection, runPath(id));
  const steps = await readData<StepRecord[]>(connection, `${runPath(id)}/steps`);
  const details = fieldList([
    ["run", run.run_id],
    ["workflow", run.workflow_name],
    ["status", run.status],
    ["error", run.error_message],
    ["target", run.target],
    ["workspace", run.workspace],
    ["params", formatParams(run.params)],
    ["started by", run.trigger_type],
    ["created", formatTime(run.created_at)],
    ["took", elapsedOrEmpty(run)],
  ]);
  const stepTable = steps.length === 0 ? "" : `\n${table(STEP_COLUMNS, steps, terminal.width)}`;
  printResponse({ ...run, steps }, details + stepTable, options);
}

interface CancelOptions extends ServerOptions {
  readonly workflow?: string;
  readonly trigger?: string;
  readonly rootCause?: string;
}

async function cancel(id: string | undefined, options: CancelOptions): Promise<void> {
  const { workflow, trigger, rootCause: root_cause } = options;
  const filters = Object.entries({ root_cause, workflow, trigger }).filter(([, name]) => name !== undefined);
  if ((id === undefined) === (filters.length === 0))
    throw new UsageError("runs cancel requires either a run, or --root-cause, --workflow or --trigger.");
  const connection = connect(options);
  if (id !== undefined) {
    const response = await connection.request("DELETE", runPath(id));
    printResponse(response, `cancelled ${id}\n`, options);
    return;
  }
  const body = Object.fromEntries(filters);
  const response = (await connection.request("POST", `${RUNS}/cancel`, { body })) as {
    cancelled: number;
    remaining: number;
  };
  const more = response.remaining > 0 ? `, ${response.remaining} remain: repeat the command` : "";
  printResponse(response, `cancelled ${response.cancelled}${more}\n`, options);
}

async function repeat(
  id: string,
  action: "rerun" | "resume",
  options: ServerOptions & { readonly param?: Params },
): Promise<void> {
  const { param: params } = options;
  const request = params === undefined ? {} : { body: { params } };
  const response = (await connect(options).request("POST", `${runPath(id)}/${action}`, request)) as {
    run_id?: string;
    run_uuid?: string;
  };
  printResponse(response, `${response.run_id ?? response.run_uuid ?? ""}\n`, options);
}
