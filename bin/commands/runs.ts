import { type Action, withActions } from "../actions.ts";
import { UsageError } from "../command.ts";
import { connect, SERVER_FLAGS } from "../connection.ts";
import { PAGE_FLAGS, PARAM_FLAG, paramFlags } from "../flags.ts";
import { printAnswer, printList, readData } from "../pages.ts";
import { OVER, type RunRecord, runPath, type StepRecord, tookOf } from "../run-progress.ts";
import { type Column, duration, fields, moment, statusColour, table } from "../table.ts";

const RUNS = "/automation/runs";

const COLUMNS: readonly Column<RunRecord>[] = [
  { head: "RUN", text: ({ run_id }) => run_id },
  {
    head: "STATUS",
    text: ({ status }) => status,
    colour: ({ status }) => statusColour(status),
  },
  { head: "WORKFLOW", text: ({ workflow_name }) => workflow_name, cut: true },
  { head: "TARGET", text: ({ target }) => target, cut: true },
  {
    head: "STEPS",
    text: ({ completed_steps, total_steps }) => `${completed_steps}/${total_steps}`,
    right: true,
  },
  { head: "TOOK", text: took, right: true },
  { head: "BY", text: ({ trigger_type }) => trigger_type },
  { head: "CREATED", text: ({ created_at }) => moment(created_at), cut: true },
];

const STEP_COLUMNS: readonly Column<StepRecord>[] = [
  { head: "STEP", text: ({ step_name }) => step_name },
  { head: "MODULE", text: ({ module }) => module, cut: true },
  { head: "TYPE", text: ({ step_type }) => step_type },
  {
    head: "STATUS",
    text: ({ status }) => status,
    colour: ({ status }) => statusColour(status),
  },
  {
    head: "TOOK",
    text: (step) => (step.status === "skipped" ? "" : duration(step.duration_ms)),
    right: true,
  },
  { head: "TRY", text: ({ attempt }) => String(attempt), right: true },
  { head: "SAYS", text: ({ error_message, output }) => error_message || output, cut: true },
];

function took(run: RunRecord): string {
  return run.started_at === null && !OVER.has(run.status) ? "" : tookOf(run);
}

/** Asks something of a run that makes another one. */
const again = (what: string, summary: string): Action => ({
  takes: "<run>",
  summary,
  run: async ([id = ""], args, terminal) => {
    const params = paramFlags(args);
    const options = Object.keys(params).length === 0 ? {} : { body: { params } };
    const answer = (await connect(args, terminal).request("POST", `${runPath(id)}/${what}`, options)) as {
      run_id?: string;
      run_uuid?: string;
    };
    printAnswer(answer, `${answer.run_id ?? answer.run_uuid ?? ""}\n`, args, terminal);
  },
});

const CANCEL_FILTERS = [
  ["root-cause", "root_cause"],
  ["workflow", "workflow"],
  ["trigger", "trigger"],
] as const;

/** `weft runs`: what ran, and what runs. */
export const runs = withActions({
  name: "runs",
  summary: "Lists runs, shows one and its steps, cancels one, and runs it again",
  actions: {
    list: {
      takes: "",
      summary: "Runs, newest first",
      run: (_words, args, terminal) =>
        printList<RunRecord>(
          connect(args, terminal),
          { path: RUNS, filters: ["status", "workflow", "target", "workspace"], columns: COLUMNS },
          args,
          terminal,
        ),
    },
    show: {
      takes: "<run>",
      summary: "One run with its steps",
      run: async ([id = ""], args, terminal) => {
        const connection = connect(args, terminal);
        const run = await readData<RunRecord & { params: Record<string, string> }>(connection, runPath(id));
        const steps = await readData<StepRecord[]>(connection, `${runPath(id)}/steps`);
        const about = fields([
          ["run", run.run_id],
          ["workflow", run.workflow_name],
          ["status", run.status],
          ["error", run.error_message],
          ["target", run.target],
          ["workspace", run.workspace],
          [
            "params",
            Object.entries(run.params)
              .map((pair) => pair.join("="))
              .join("  "),
          ],
          ["started by", run.trigger_type],
          ["created", moment(run.created_at)],
          ["took", took(run)],
        ]);
        const list = steps.length === 0 ? "" : `\n${table(STEP_COLUMNS, steps, terminal.width)}`;
        printAnswer({ ...run, steps }, about + list, args, terminal);
      },
    },
    steps: {
      takes: "<run>",
      summary: "The steps of a run, in the order in which they began",
      run: async ([id = ""], args, terminal) => {
        const data = await readData<StepRecord[]>(connect(args, terminal), `${runPath(id)}/steps`);
        printAnswer({ data }, table(STEP_COLUMNS, data, terminal.width), args, terminal);
      },
    },
    cancel: {
      takes: "[run]",
      summary: "Cancels a run for good, or all of a root cause, workflow or trigger",
      run: async ([id = ""], args, terminal) => {
        const given = CANCEL_FILTERS.flatMap(([flag, field]) => {
          const value = args.flags[flag];
          return typeof value === "string" ? [[field, value]] : [];
        });
        if ((id === "") === (given.length === 0))
          throw new UsageError("runs cancel takes a run, or --root-cause, --workflow or --trigger.");
        if (id === "") {
          const body = Object.fromEntries(given);
          const answer = (await connect(args, terminal).request("POST", `${RUNS}/cancel`, { body })) as {
            cancelled: number;
            remaining: number;
          };
          const more = answer.remaining > 0 ? `, ${answer.remaining} remain: cancel again` : "";
          printAnswer(answer, `cancelled ${answer.cancelled}${more}\n`, args, terminal);
          return;
        }
        const answer = await connect(args, terminal).request("DELETE", runPath(id));
        printAnswer(answer, `cancelled ${id}\n`, args, terminal);
      },
    },
    rerun: again("rerun", "Starts a run like it, with some parameters changed"),
    resume: again("resume", "Goes on from the step that failed, in a new run"),
  },
  flags: {
    status: {
      type: "string",
      value: "STATUS",
      summary: "of one status",
      choices: ["pending", "running", "completed", "failed", "cancelled"],
      of: ["list"],
    },
    workflow: { type: "string", value: "NAME", summary: "of one workflow", of: ["list", "cancel"] },
    trigger: { type: "string", value: "NAME", summary: "started by one trigger", of: ["cancel"] },
    "root-cause": {
      type: "string",
      value: "ID",
      summary: "that one event or run led to; it starts no further ones",
      of: ["cancel"],
    },
    target: { type: "string", short: "t", value: "TEXT", summary: "part of the target", of: ["list"] },
    workspace: { type: "string", short: "w", value: "NAME", summary: "in one workspace", of: ["list"] },
    ...PAGE_FLAGS,
    param: { ...PARAM_FLAG, summary: "a parameter that is changed", of: ["rerun"] },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft runs --status failed --limit 5", "the last that failed"],
    ["weft runs show 018f2c…", "one with its steps"],
    ["weft runs cancel 018f2c…", "ends it, and the processes of its steps"],
    ["weft runs cancel --root-cause 018f2c…", "ends all that one event or run has led to"],
    ["weft runs rerun 018f2c… -p depth=3", "once more, with one parameter changed"],
  ],
});
