import { type Action, withActions } from "../actions.ts";
import { type Arguments, type Flag, textFlag, UsageError } from "../command.ts";
import { connect, SERVER_FLAGS } from "../connection.ts";
import { PAGE_FLAGS, PARAM_FLAG, paramFlags } from "../flags.ts";
import { printAnswer, printList, readData } from "../pages.ts";
import { type Column, fields, moment } from "../table.ts";

const SCHEDULES = "/automation/schedules";
const TYPES = ["cron", "event", "watch", "manual"] as const;

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

const whenOf = ({ schedule, event_topic, watch_path }: ScheduleRecord): string =>
  schedule || event_topic || watch_path;

const COLUMNS: readonly Column<ScheduleRecord>[] = [
  { head: "ID", text: ({ id }) => id },
  { head: "NAME", text: ({ name }) => name, cut: true },
  { head: "WORKFLOW", text: ({ workflow_name }) => workflow_name, cut: true },
  { head: "TYPE", text: ({ trigger_type }) => trigger_type },
  { head: "WHEN", text: whenOf, cut: true },
  {
    head: "ON",
    text: ({ is_enabled }) => (is_enabled ? "yes" : "no"),
    colour: ({ is_enabled }) => (is_enabled ? "green" : "gray"),
  },
  { head: "RUNS", text: ({ run_count }) => String(run_count), right: true },
  { head: "LAST", text: ({ last_run }) => moment(last_run), cut: true },
  { head: "NEXT", text: ({ next_run }) => moment(next_run), cut: true },
];

const pathOf = (id: string): string => `${SCHEDULES}/${encodeURIComponent(id)}`;

/** What is asked of one schedule, and what is then said. */
const asks = (method: string, what: string, summary: string, done: string): Action => ({
  takes: "<id>",
  summary,
  run: async ([id = ""], args, terminal) => {
    const answer = await connect(args, terminal).request(method, `${pathOf(id)}${what}`);
    const { run_id } = (answer ?? {}) as { run_id?: string };
    const run = run_id === undefined ? "" : `  run ${run_id}`;
    printAnswer(answer, `${done} ${id}${run}\n`, args, terminal);
  },
});

const ofCreate = (flag: Flag): Flag => ({ ...flag, of: ["create"] });

/** `weft schedules`: what starts workflows by itself. */
export const schedules = withActions({
  name: "schedules",
  summary: "Lists, makes, switches, fires and deletes schedules",
  actions: {
    list: {
      takes: "",
      summary: "Schedules and triggers of workflows, newest first",
      run: (_words, args, terminal) =>
        printList<ScheduleRecord>(
          connect(args, terminal),
          { path: SCHEDULES, filters: ["workflow-name", "trigger-type", "enabled"], columns: COLUMNS },
          args,
          terminal,
        ),
    },
    show: {
      takes: "<id>",
      summary: "One, with what it gives its runs",
      run: async ([id = ""], args, terminal) => {
        const found = await readData<ScheduleRecord>(connect(args, terminal), pathOf(id));
        const text = fields([
          ["id", found.id],
          ["name", found.name],
          ["workflow", found.workflow_name],
          [found.trigger_type, whenOf(found)],
          ["time zone", found.timezone ?? ""],
          ["missed", found.misfire ?? ""],
          ["enabled", found.is_enabled ? "yes" : "no"],
          ["target", found.target],
          ["workspace", found.workspace],
          [
            "params",
            Object.entries(found.params)
              .map((pair) => pair.join("="))
              .join("  "),
          ],
          ["runs", String(found.run_count)],
          ["last run", moment(found.last_run)],
          ["next run", moment(found.next_run)],
          ["error", found.error ?? ""],
        ]);
        printAnswer(found, text, args, terminal);
      },
    },
    create: {
      takes: "<name>",
      summary: "Makes one, switched on, for a workflow",
      run: async ([name = ""], args, terminal) => {
        const body = bodyOf(name, args);
        const answer = (await connect(args, terminal).request("POST", SCHEDULES, { body })) as {
          data: ScheduleRecord;
        };
        const { id, next_run } = answer.data;
        const next = next_run === null ? "" : `  next run ${moment(next_run)}`;
        printAnswer(answer.data, `created ${id}${next}\n`, args, terminal);
      },
    },
    enable: asks("POST", "/enable", "Switches one on", "enabled"),
    disable: asks("POST", "/disable", "Switches one off", "disabled"),
    trigger: asks("POST", "/trigger", "Fires one now, on or off", "triggered"),
    delete: asks("DELETE", "", "Deletes one", "deleted"),
  },
  flags: {
    "workflow-name": { type: "string", value: "NAME", summary: "of one workflow", of: ["list"] },
    "trigger-type": { type: "string", value: "TYPE", summary: "of one type", choices: TYPES, of: ["list"] },
    enabled: {
      type: "string",
      value: "BOOLEAN",
      summary: "true or false",
      choices: ["true", "false"],
      of: ["list"],
    },
    ...PAGE_FLAGS,
    workflow: ofCreate({ type: "string", value: "NAME", summary: "the workflow that it starts" }),
    cron: ofCreate({ type: "string", value: "EXPRESSION", summary: "when, five fields" }),
    timezone: ofCreate({ type: "string", value: "ZONE", summary: "of the expression (UTC)" }),
    misfire: ofCreate({
      type: "string",
      value: "POLICY",
      summary: "of times that were missed: none, last (default) or all",
      choices: ["none", "last", "all"],
    }),
    topic: ofCreate({
      type: "string",
      value: "TOPIC",
      summary: "at events of this topic, instead of a time",
    }),
    watch: ofCreate({
      type: "string",
      value: "PATH",
      summary: "at changes of these files, instead of a time",
    }),
    manual: ofCreate({ type: "boolean", summary: "only when it is fired" }),
    target: ofCreate({ type: "string", short: "t", value: "TARGET", summary: "of its runs" }),
    workspace: ofCreate({ type: "string", short: "w", value: "NAME", summary: "of its runs" }),
    param: ofCreate({ ...PARAM_FLAG, summary: "a parameter of its runs" }),
    disabled: ofCreate({ type: "boolean", summary: "switched off at first" }),
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft schedules", "lists them with their next run"],
    [`weft schedules create nightly --workflow scan --cron "0 2 * * *" -t example.com`, "every night at two"],
    ["weft schedules create redo --workflow scan --topic run.failed", "at each event of a topic"],
    ["weft schedules trigger sch_018f…", "fires one now"],
  ],
});

/** Throws UsageError. */
function bodyOf(name: string, args: Arguments): Readonly<Record<string, unknown>> {
  const workflow = textFlag(args, "workflow");
  if (workflow === undefined) throw new UsageError("schedules create takes --workflow.");
  const schedule = textFlag(args, "cron");
  const event_topic = textFlag(args, "topic");
  const watch_path = textFlag(args, "watch");
  const given = { cron: schedule, event: event_topic, watch: watch_path };
  const types = [
    ...Object.entries(given).flatMap(([type, value]) => (value === undefined ? [] : [type])),
    ...(args.flags.manual === true ? ["manual"] : []),
  ];
  if (types.length !== 1)
    throw new UsageError("schedules create takes one of --cron, --topic, --watch and --manual.");
  const optional = {
    ...{ schedule, event_topic, watch_path, timezone: textFlag(args, "timezone") },
    ...{ misfire: textFlag(args, "misfire"), target: textFlag(args, "target") },
    workspace: textFlag(args, "workspace"),
  };
  return {
    name,
    workflow_name: workflow,
    trigger_type: types[0],
    enabled: args.flags.disabled !== true,
    params: paramFlags(args),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
