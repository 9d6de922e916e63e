import { dataOf, type Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { CommandFailure, UsageError } from "../errors.ts";
import {
  addPageOptions,
  addServerOptions,
  choice,
  givenFields,
  listQuery,
  type Params,
  paramOption,
  type ServerOptions,
} from "../options.ts";
import { printList, printResponse, unexpectedResponse } from "../responses.ts";
import {
  cancelRun,
  elapsed,
  FINISHED,
  type RunRecord,
  readRun,
  readSteps,
  type StepRecord,
} from "../run-progress.ts";
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

const FILTERS = [
  "status",
  "workflow",
  "target",
  "workspace",
  "error",
  "startedAfter",
  "startedBefore",
  "param",
];
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
  .example("weft runs --status failed -p depth=3 --error timeout", "the runs that failed with these")
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
    .option("-w, --workspace <name>", "Runs in this workspace")
    .option("--error <text>", "Runs whose error contains the text")
    .option("--started-after <time>", "Runs that started at this time or later: RFC 3339, or a date")
    .option("--started-before <time>", "Runs that started before this time")
    .addOption(paramOption("Runs with this value of a parameter")),
).action((_options, command: WeftCommand) => {
  const options = command.optsWithGlobals<ServerOptions>();
  const query = listQuery<object>(options, FILTERS);
  return printList(COLUMNS, options, (api) => api.GET("/automation/runs", { params: { query } }));
});

runs
  .command("show <run>")
  .description("Show a run and its steps")
  .action((id: string, _options, command: WeftCommand) => show(id, command.optsWithGlobals()));

runs
  .command("steps <run>")
  .description("List the steps of a run in the order in which they started")
  .action(async (id: string, _options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const data = await readSteps(connect(options), id);
    printResponse({ data }, table(STEP_COLUMNS, data, terminal.width), options);
  });

runs
  .command("cancel [runs...]")
  .description("Cancel runs, or all runs of a root cause, workflow or trigger")
  .option("--workflow <name>", "All runs of this workflow")
  .option("--trigger <name>", "All runs that this trigger started")
  .option("--root-cause <id>", "All runs that this event or run led to; it starts no further runs")
  .action((ids: readonly string[], _options, command: WeftCommand) => cancel(ids, command.optsWithGlobals()));

runs
  .command("rerun <runs...>")
  .description("Start runs with the same input, and optionally other parameters")
  .addOption(paramOption("A parameter to change"))
  .action((ids: readonly string[], _options, command: WeftCommand) => rerun(ids, command.optsWithGlobals()));

runs
  .command("resume <run>")
  .description("Continue a failed run at the step that failed, as a new run")
  .action((id: string, _options, command: WeftCommand) => repeat(id, "resume", command.optsWithGlobals()));

async function show(id: string, options: ServerOptions): Promise<void> {
  const connection = connect(options);
  const run = await readRun(connection, id);
  const steps = await readSteps(connection, id);
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

async function cancel(ids: readonly string[], options: CancelOptions): Promise<void> {
  const { workflow, trigger, rootCause: root_cause } = options;
  const filters = Object.entries({ root_cause, workflow, trigger }).filter(([, name]) => name !== undefined);
  const [id] = ids;
  if ((id === undefined) === (filters.length === 0))
    throw new UsageError("runs cancel requires either runs, or --root-cause, --workflow or --trigger.");
  const connection = connect(options);
  if (ids.length > 1) {
    const body = { ids: [...ids] };
    printResults(await dataOf(connection.api.POST("/automation/runs/cancel", { body })), options);
    return;
  }
  if (id !== undefined) {
    printResponse(await cancelRun(connection, id), `cancelled ${id}\n`, options);
    return;
  }
  const body = Object.fromEntries(filters);
  const response = await dataOf(connection.api.POST("/automation/runs/cancel", { body }));
  const more = response.remaining > 0 ? `, ${response.remaining} remain: repeat the command` : "";
  printResponse(response, `cancelled ${response.cancelled}${more}\n`, options);
}

type RepeatOptions = ServerOptions & { readonly param?: Params };

async function rerun(ids: readonly string[], options: RepeatOptions): Promise<void> {
  const [id = ""] = ids;
  if (ids.length === 1) return repeat(id, "rerun", options);
  const body = { ids: [...ids], ...givenFields({ params: options.param }) };
  printResults(await dataOf(connect(options).api.POST("/automation/runs/rerun", { body })), options);
}

/** Prints the id of each run that was cancelled or started. Throws CommandFailure if there is an error for one. */
function printResults(
  response: { readonly results?: readonly Schemas["RunResult"][] },
  options: ServerOptions,
): void {
  const { results } = response;
  if (results === undefined) throw unexpectedResponse("a list of results");
  printResponse(response, results.map(({ ok, run_id }) => (ok ? `${run_id}\n` : "")).join(""), options);
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length === 0) return;
  const reasons = failed.map(({ id, error }) => `${id}: ${error}`).join("\n");
  throw new CommandFailure(`${failed.length} of ${results.length} runs could not be handled:\n${reasons}`);
}

async function repeat(id: string, action: "rerun" | "resume", options: RepeatOptions): Promise<void> {
  const { param: params } = options;
  const { api } = connect(options);
  const path = { id };
  const response = await dataOf(
    action === "resume"
      ? api.POST("/automation/runs/{id}/resume", { params: { path } })
      : api.POST("/automation/runs/{id}/rerun", {
          params: { path },
          body: params === undefined ? {} : { params },
        }),
  );
  printResponse(response, `${response.run_id}\n`, options);
}
