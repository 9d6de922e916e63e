import { type ApiClient, dataOf, type Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { UsageError } from "../errors.ts";
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
import { printList, printResponse, readData } from "../responses.ts";
import { type Column, fieldList, formatParams, formatTime } from "../table.ts";

const TYPES = ["cron", "event", "watch", "manual"] as const;

type ScheduleRecord = Schemas["Schedule"];

const condition = ({ schedule, event_topic, watch_path }: ScheduleRecord): string =>
  schedule || event_topic || watch_path;

const COLUMNS: readonly Column<ScheduleRecord>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "NAME", value: ({ name }) => name, canShrink: true },
  { header: "WORKFLOW", value: ({ workflow_name }) => workflow_name, canShrink: true },
  { header: "TYPE", value: ({ trigger_type }) => trigger_type },
  { header: "WHEN", value: condition, canShrink: true },
  {
    header: "ON",
    value: ({ is_enabled }) => (is_enabled ? "yes" : "no"),
    color: ({ is_enabled }) => (is_enabled ? "green" : "gray"),
  },
  { header: "RUNS", value: ({ run_count }) => String(run_count), align: "right" },
  { header: "LAST", value: ({ last_run }) => formatTime(last_run), canShrink: true },
  { header: "NEXT", value: ({ next_run }) => formatTime(next_run), canShrink: true },
];

export const schedules = addServerOptions(new WeftCommand("schedules"))
  .description("List, create, enable, disable, trigger and delete schedules")
  .example("weft schedules", "lists the schedules with their next run")
  .example(
    `weft schedules create nightly --workflow scan --cron "0 2 * * *" -t example.com`,
    "every night at two",
  )
  .example("weft schedules create redo --workflow scan --topic run.failed", "on each event of a topic")
  .example("weft schedules trigger sch_018f…", "triggers a schedule now");

addPageOptions(
  schedules
    .defaultCommand("list")
    .description("List schedules and the triggers of workflows, newest first")
    .option("--workflow-name <name>", "Schedules of this workflow")
    .addOption(choice("--trigger-type <type>", "Schedules of this type", TYPES))
    .addOption(choice("--enabled <boolean>", "Whether they are enabled", ["true", "false"])),
).action((_options, command: WeftCommand) => {
  const options = command.optsWithGlobals<ServerOptions>();
  const query = listQuery<object>(options, ["workflowName", "triggerType", "enabled"]);
  return printList(COLUMNS, options, (api) => api.GET("/automation/schedules", { params: { query } }));
});

schedules
  .command("show <id>")
  .description("Show a schedule and the input of its runs")
  .action((id: string, _options, command: WeftCommand) => show(id, command.optsWithGlobals()));

schedules
  .command("create <name>")
  .description("Create a schedule of a workflow")
  .requiredOption("--workflow <name>", "Workflow to start")
  .option("--cron <expression>", "When to start it: a cron expression with five fields")
  .option("--timezone <zone>", "Time zone of the expression (default: UTC)")
  .addOption(
    choice("--misfire <policy>", "Which missed times to make up for (default: last)", [
      "none",
      "last",
      "all",
    ]),
  )
  .option("--topic <topic>", "Start it on events of this topic, instead of at a time")
  .option("--watch <path>", "Start it when these files change, instead of at a time")
  .option("--manual", "Start it only with `weft schedules trigger`")
  .option("-t, --target <target>", "Target of its runs")
  .option("-w, --workspace <name>", "Workspace of its runs")
  .addOption(paramOption("A parameter of its runs"))
  .option("--disabled", "Create it disabled")
  .action((name: string, _options, command: WeftCommand) => create(name, command.optsWithGlobals()));

addAction("enable <id>", "Enable a schedule", "enabled", (api, request) =>
  api.POST("/automation/schedules/{id}/enable", request),
);
addAction("disable <id>", "Disable a schedule", "disabled", (api, request) =>
  api.POST("/automation/schedules/{id}/disable", request),
);
addAction("trigger <id>", "Trigger a schedule now, even if it is disabled", "triggered", (api, request) =>
  api.POST("/automation/schedules/{id}/trigger", request),
);
addAction("delete <id>", "Delete a schedule", "deleted", (api, request) =>
  api.DELETE("/automation/schedules/{id}", request),
);

function addAction(
  usage: string,
  description: string,
  done: string,
  act: (
    api: ApiClient,
    request: { params: { path: { id: string } } },
  ) => Promise<{ data?: { message: string; run_id?: string } | undefined }>,
): void {
  schedules
    .command(usage)
    .description(description)
    .action(async (id: string, _options, command: WeftCommand) => {
      const options = command.optsWithGlobals<ServerOptions>();
      const response = await dataOf(act(connect(options).api, { params: { path: { id } } }));
      const run_id = response?.run_id;
      const run = run_id === undefined ? "" : `  run ${run_id}`;
      printResponse(response, `${done} ${id}${run}\n`, options);
    });
}

async function show(id: string, options: ServerOptions): Promise<void> {
  const { api } = connect(options);
  const schedule = await readData(api.GET("/automation/schedules/{id}", { params: { path: { id } } }));
  const details = fieldList([
    ["id", schedule.id],
    ["name", schedule.name],
    ["workflow", schedule.workflow_name],
    [schedule.trigger_type, condition(schedule)],
    ["time zone", schedule.timezone ?? ""],
    ["misfire", schedule.misfire ?? ""],
    ["enabled", schedule.is_enabled ? "yes" : "no"],
    ["target", schedule.target],
    ["workspace", schedule.workspace],
    ["params", formatParams(schedule.params)],
    ["runs", String(schedule.run_count)],
    ["last run", formatTime(schedule.last_run)],
    ["next run", formatTime(schedule.next_run)],
    ["error", schedule.error ?? ""],
  ]);
  printResponse(schedule, details, options);
}

interface CreateOptions extends ServerOptions {
  readonly workflow: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly misfire?: string;
  readonly topic?: string;
  readonly watch?: string;
  readonly manual?: boolean;
  readonly target?: string;
  readonly workspace?: string;
  readonly param?: Params;
  readonly disabled?: boolean;
}

async function create(name: string, options: CreateOptions): Promise<void> {
  const body = givenFields({
    name,
    workflow_name: options.workflow,
    trigger_type: triggerType(options),
    schedule: options.cron,
    event_topic: options.topic,
    watch_path: options.watch,
    timezone: options.timezone,
    misfire: options.misfire,
    target: options.target,
    workspace: options.workspace,
    enabled: options.disabled !== true,
    params: options.param ?? {},
  });
  const schedule = await readData(connect(options).api.POST("/automation/schedules", { body }));
  const { id, next_run } = schedule;
  const next = next_run === null ? "" : `  next run ${formatTime(next_run)}`;
  printResponse(schedule, `created ${id}${next}\n`, options);
}

function triggerType({ cron, topic, watch, manual }: CreateOptions): (typeof TYPES)[number] {
  const conditions = { cron, event: topic, watch, manual };
  const [type, ...others] = TYPES.filter((each) => conditions[each] !== undefined);
  if (type === undefined || others.length > 0)
    throw new UsageError("schedules create requires one of --cron, --topic, --watch and --manual.");
  return type;
}
