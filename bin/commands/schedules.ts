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
import { type Column, fieldList, formatParams, formatTime } from "../table.ts";

const SCHEDULES = "/automation/schedules";
const TYPES = ["cron", "event", "watch", "manual"];

interface ScheduleRecord {
  readonly id: string;
  readonly name: string;
  readonly workflow_name: string;
  readonly target: string;
  readonly workspace: string;
  readonly params: Readonly<Record<string, string>>;
  readonly trigger_type: string;
  readonly schedule: string;
  readonly event_topic: string;
  readonly watch_path: string;
  readonly is_enabled: boolean;
  readonly last_run: string | null;
  readonly next_run: string | null;
  readonly run_count: number;
  readonly timezone?: string;
  readonly misfire?: string;
  readonly error?: string;
}

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

const schedulePath = (id: string): string => `${SCHEDULES}/${encodeURIComponent(id)}`;

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
).action((_options, command: WeftCommand) =>
  printList<ScheduleRecord>(
    { path: SCHEDULES, filters: ["workflowName", "triggerType", "enabled"], columns: COLUMNS },
    command.optsWithGlobals(),
  ),
);

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

addAction("enable", "POST", "Enable a schedule", "enabled");
addAction("disable", "POST", "Disable a schedule", "disabled");
addAction("trigger", "POST", "Trigger a schedule now, even if it is disabled", "triggered");
addAction("delete", "DELETE", "Delete a schedule", "deleted");

function addAction(name: string, method: string, description: string, done: string): void {
  schedules
    .command(`${name} <id>`)
    .description(description)
    .action(async (id: string, _options, command: WeftCommand) => {
      const options = command.optsWithGlobals<ServerOptions>();
      const path = method === "DELETE" ? schedulePath(id) : `${schedulePath(id)}/${name}`;
      const response = await connect(options).request(method, path);
      const { run_id } = (response ?? {}) as { run_id?: string };
      const run = run_id === undefined ? "" : `  run ${run_id}`;
      printResponse(response, `${done} ${id}${run}\n`, options);
    });
}

async function show(id: string, options: ServerOptions): Promise<void> {
  const schedule = await readData<ScheduleRecord>(connect(options), schedulePath(id));
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
  // JSON.stringify omits undefined fields.
  const body = {
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
  };
  const response = (await connect(options).request("POST", SCHEDULES, { body })) as { data: ScheduleRecord };
  const { id, next_run } = response.data;
  const next = next_run === null ? "" : `  next run ${formatTime(next_run)}`;
  printResponse(response.data, `created ${id}${next}\n`, options);
}

function triggerType({ cron, topic, watch, manual }: CreateOptions): string {
  const types = Object.entries({ cron, event: topic, watch, manual }).filter(
    ([, value]) => value !== undefined,
  );
  const [[type] = [""]] = types;
  if (types.length !== 1)
    throw new UsageError("schedules create requires one of --cron, --topic, --watch and --manual.");
  return type;
}
