import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ForeachStep, LeafStep, ParallelSteps, Step } from "../definition/types.ts";
import { childKey, type Input, ITEMS_PER_BATCH, isContainer } from "../engine/decide.ts";
import { isTerminal } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import { type ConductMessage, programOf, type StepCommand, type StepReport } from "../runs/conduct.ts";
import { CONDUCT_QUEUE } from "../runs/create.ts";
import { runKey, runsTable, type StoredRun } from "../runs/table.ts";
import { type KeptValue, keepValue, loadValues, VALUES_INLINE_BYTES, variableName } from "../runs/values.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderValue } from "../templates/text.ts";
import { PARALLEL_MAX, runBatch } from "./batch.ts";
import type { Attempt, LoopValue, Scope, StepDeps } from "./context.ts";
import { deadlineOf, timeoutOf } from "./deadline.ts";
import { failureText, StepCancelled, StepFailed } from "./failure.ts";
import { layOutItems, loadItems } from "./items.ts";
import { attemptLeaf, begin, guarded, type LeafResult, NO_OUTPUT } from "./leaf.ts";
import { type Lease, releaseLease, takeLease, watchLease } from "./lease.ts";
import { bindLoop, loadScope } from "./scope.ts";

/** Command, output and exports as they are shown in a step's row, characters. */
const SHOWN_COMMAND_MAX = 8_000;
const SHOWN_OUTPUT_MAX = 16_000;
const SHOWN_EXPORT_MAX = 1_000;

/** What an executor found out: the conductor's input and what goes into the step's row. */
interface Finding extends LeafResult {
  readonly total?: number;
  readonly parallel?: number;
  readonly failedItems?: number;
}

/**
 * Executes a step that was requested: takes its lease, does its work and reports to the conductor. A request
 * that was answered, that belongs to a run that is over, or that another process works on is dropped.
 */
export async function executeStep(deps: StepDeps, command: StepCommand, signal: AbortSignal): Promise<void> {
  const { request } = command;
  const run = await deps.tables.get(runsTable, runKey(command.run_id));
  if (run === undefined || isTerminal(run.status)) return;
  if (run.state.frames[request.key]?.dispatch !== request.dispatch) return;
  const program = await programOf(deps, run);
  const module = program.modules[request.module];
  const step = module?.byName.get(request.step);
  if (module === undefined || step === undefined) throw new Error(`no such step: ${request.step}`);
  const lease = await takeLease(deps, run, request, module.name);
  if (lease === undefined) return;
  const watch = watchLease(deps, run.run_id, request, lease, signal);
  try {
    const attempt = await openAttempt(deps, run, step, command, lease, watch.signal);
    const finding = await find(attempt, program, lease);
    if (watch.isLost()) return;
    await report(deps, attempt, finding, lease);
  } catch (thrown) {
    if (watch.isLost()) return;
    if (thrown instanceof StepCancelled && !signal.aborted) return;
    await releaseLease(deps, run.run_id, request, lease).catch((error: unknown) =>
      deps.log.warn("lease could not be given up", { run: run.run_id, step: request.key, error }),
    );
    throw thrown;
  } finally {
    watch.stop();
  }
}

async function openAttempt(
  deps: StepDeps,
  run: StoredRun,
  step: Step,
  { request }: StepCommand,
  lease: Lease,
  signal: AbortSignal,
): Promise<Attempt> {
  const workspace = join(deps.paths.workspacesDir, run.workspace);
  const logs = join(deps.paths.logsDir, run.run_id);
  await Promise.all([mkdir(workspace, { recursive: true }), mkdir(logs, { recursive: true, mode: 0o700 })]);
  return { deps, run, step, request, number: lease.attempt, signal, workspace, logs, deadline: undefined };
}

async function find(opened: Attempt, program: Program, lease: Lease): Promise<Finding> {
  try {
    const loops = await loopsOf(opened, program);
    const variables = loops.map(({ variable }) => variable);
    const batch = opened.request.items === undefined ? undefined : batchLoop(opened, program);
    const loaded = await loadScope(
      opened.deps,
      opened.run,
      opened.step,
      batch === undefined ? variables : [...variables, batch.variable],
      opened.number,
    );
    const scope = loops.reduce(bindLoop, loaded);
    const attempt = { ...opened, deadline: await deadlineOf(opened, scope, program, variables) };
    if (opened.request.items !== undefined && batch !== undefined) {
      return await findBatch(attempt, scope, opened.request.items, batch, loops);
    }
    if (opened.request.phase === "enter") return await findEntered(attempt, scope);
    if (opened.request.phase === "leave") return await findLeft(attempt, scope, lease);
    return await attemptLeaf(attempt, scope, opened.step as LeafStep);
  } catch (thrown) {
    if (!(thrown instanceof StepFailed) && !(thrown instanceof Error && thrown.name === "TemplateError"))
      throw thrown;
    return { ...NO_OUTPUT, status: "failed", error: opened.deps.secrets.redact(failureText(thrown)) };
  }
}

/** Before the children: condition, message, and how many children there are. */
async function findEntered(attempt: Attempt, scope: Scope): Promise<Finding> {
  const { step } = attempt;
  const begun = await guardedEnter(attempt, scope, async () => {
    if (!(await begin(attempt, scope, step))) return undefined;
    return step.type === "foreach"
      ? { total: await layOutItems(attempt, scope, step), parallel: parallelOf(step, scope) }
      : { total: (step as ParallelSteps).parallel_steps.length, parallel: PARALLEL_MAX };
  });
  return begun;
}

async function guardedEnter(
  attempt: Attempt,
  scope: Scope,
  run: () => Promise<{ total: number; parallel: number } | undefined>,
): Promise<Finding> {
  let entered: { total: number; parallel: number } | undefined;
  const result = await guarded(attempt, scope, { ...attempt.step, exports: {}, on_success: [] }, async () => {
    entered = await run();
    return entered === undefined ? undefined : NO_OUTPUT;
  });
  return result.status === "completed" ? { ...result, exports: {}, ...entered } : result;
}

/** How many items of a foreach run at once. Throws StepFailed for what is no positive whole number. */
export function parallelOf(step: ForeachStep, scope: Scope): number {
  const value =
    typeof step.parallel === "number"
      ? step.parallel
      : Number(renderValue(parseTemplate(step.parallel, scope), scope.values));
  if (!Number.isInteger(value) || value < 1)
    throw new StepFailed("parallel: must be a whole number of at least 1");
  return Math.min(PARALLEL_MAX, value);
}

/** After the children: output, exports and handlers of the container, by how the children ended. */
async function findLeft(attempt: Attempt, scope: Scope, lease: Lease): Promise<Finding> {
  const children = attempt.run.state.frames[attempt.request.key]?.children;
  const output = await childrenOutput(attempt);
  const timeoutMs = timeoutOf(attempt.step, scope);
  return guarded(attempt, scope, attempt.step, async () => {
    if (timeoutMs !== undefined && attempt.deps.clock.now() >= lease.startedAt + timeoutMs) {
      throw new StepFailed(`timed out after ${timeoutMs} ms`);
    }
    if ((children?.failed ?? 0) > 0) throw new StepFailed(children?.error ?? "failed");
    return { ...NO_OUTPUT, output };
  });
}

/** Outputs of the children, in their order; those of a foreach batch by batch. */
async function childrenOutput(attempt: Attempt): Promise<string> {
  const { step, run, request, deps } = attempt;
  const names =
    step.type === "parallel-steps"
      ? step.parallel_steps.map((child) => outputName(child, childKey(request.key, child.name, undefined)))
      : batchNames(attempt, step as ForeachStep);
  const { values } = await loadValues(deps, run.run_id, names);
  return names
    .map((name) => values[name])
    .filter((value) => value !== undefined && value !== null && value !== "")
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("\n")
    .slice(0, CHILDREN_OUTPUT_MAX);
}

const CHILDREN_OUTPUT_MAX = 10 * 1024 * 1024;
/** Batches or items of a foreach whose output is put together, at most. */
const OUTPUTS_SHOWN_MAX = 500;

function batchNames(attempt: Attempt, step: ForeachStep): string[] {
  const { key } = attempt.request;
  const total = attempt.run.state.frames[key]?.children?.total ?? 0;
  const size = isContainer(step.step) ? 1 : ITEMS_PER_BATCH;
  const count = Math.min(Math.ceil(total / size), OUTPUTS_SHOWN_MAX);
  return Array.from({ length: count }, (_, index) =>
    outputName(step.step, childKey(key, step.step.name, index * size)),
  );
}

/** Where the output of a step is kept; inside a foreach never in the way of a name that templates use. */
function outputName(step: Step, key: string): string {
  return key.includes("#") ? `#output:${key}` : `${variableName(step.name)}_output`;
}

async function findBatch(
  attempt: Attempt,
  scope: Scope,
  items: readonly [number, number],
  batch: { variable: string; foreachKey: string; step: ForeachStep },
  outer: readonly LoopValue[],
): Promise<Finding> {
  const parallel = parallelOf(batch.step, scope);
  const result = await runBatch(attempt, attempt.step as LeafStep, scope, items, {
    ...batch,
    parallel,
    outer,
  });
  const failed = result.failed > 0;
  return {
    ...NO_OUTPUT,
    status: failed ? "failed" : "completed",
    ...(failed ? { error: result.error ?? "failed" } : {}),
    output: result.output,
    failedItems: result.failed,
  };
}

function batchLoop(
  attempt: Attempt,
  program: Program,
): { variable: string; foreachKey: string; step: ForeachStep } {
  const parent = attempt.request.parent ?? "";
  const step = program.modules[attempt.request.module]?.byName.get(
    attempt.run.state.frames[parent]?.step ?? "",
  );
  if (step?.type !== "foreach") throw new Error(`batch without a foreach: ${attempt.request.key}`);
  return { variable: step.variable, foreachKey: parent, step };
}

/** The loop variables around a step with their values, outermost first; a batch's own is not among them. */
async function loopsOf(attempt: Attempt, program: Program): Promise<LoopValue[]> {
  const { run, request, deps } = attempt;
  const positions = (request.key.split("#")[1] ?? "")
    .split(".")
    .filter((part) => part !== "")
    .map(Number);
  const loops: LoopValue[] = [];
  let skip = request.items !== undefined;
  for (let parent = request.parent; parent !== null; ) {
    const frame = run.state.frames[parent];
    if (frame === undefined) throw new StepCancelled();
    const step = program.modules[request.module]?.byName.get(frame.step);
    if (step?.type === "foreach") {
      const index = positions.pop() ?? 0;
      if (!skip) {
        const { items, from } = await loadItems(deps, run.run_id, parent, index);
        loops.unshift({ variable: step.variable, value: items[index - from] ?? "", index });
      }
      skip = false;
    }
    parent = frame.parent;
  }
  return loops;
}

async function report(deps: StepDeps, attempt: Attempt, finding: Finding, lease: Lease): Promise<void> {
  const { request, run, step } = attempt;
  const entered = request.phase === "enter" && finding.status === "completed";
  const values: Record<string, KeptValue> = {};
  let inlineBytes = VALUES_INLINE_BYTES;
  for (const [name, value] of Object.entries(entered ? {} : namedValues(finding, step, request.key))) {
    const kept = await keepValue(deps, run.run_id, redacted(deps, value), inlineBytes);
    if ("json" in kept) inlineBytes -= Buffer.byteLength(kept.json);
    values[name] = kept;
  }
  const text = shownText(finding.output);
  const body: ConductMessage = {
    run_id: run.run_id,
    input: {
      type: "result",
      key: request.key,
      dispatch: request.dispatch,
      status: finding.status,
      ...(finding.error === undefined ? {} : { error: finding.error }),
      ...(finding.tolerated === undefined ? {} : { tolerated: finding.tolerated }),
      ...(finding.total === undefined ? {} : { total: finding.total }),
      ...(finding.parallel === undefined ? {} : { parallel: finding.parallel }),
      ...(finding.failedItems === undefined ? {} : { failed_items: finding.failedItems }),
    } satisfies Input,
    report: {
      attempt: attempt.number,
      command: deps.secrets.redact(finding.command).slice(0, SHOWN_COMMAND_MAX),
      output: deps.secrets.redact(text.slice(0, SHOWN_OUTPUT_MAX)),
      output_truncated: text.length > SHOWN_OUTPUT_MAX,
      output_lines: text === "" ? 0 : text.split("\n").length,
      duration_ms: Math.max(0, deps.clock.now() - lease.startedAt),
      log_file: finding.logFile.split("/").at(-1) ?? "",
      exports: shownExports(deps, finding.exports),
      values,
    } satisfies StepReport,
  };
  const deduplicationId = `${request.dispatch}:${attempt.number}:${run.run_id}`;
  await deps.queues.send(CONDUCT_QUEUE, [
    { body: JSON.stringify(body), groupId: run.run_id, deduplicationId },
  ]);
}

/** What later steps may name; a step inside a foreach leaves its output alone, and that apart. */
function namedValues(finding: Finding, step: Step, key: string): Record<string, unknown> {
  return key.includes("#")
    ? { ...finding.exports, [outputName(step, key)]: finding.output }
    : { ...finding.exports };
}

function redacted(deps: Pick<StepDeps, "secrets">, value: unknown): unknown {
  if (typeof value === "string") return deps.secrets.redact(value);
  if (typeof value !== "object" || value === null) return value;
  return JSON.parse(deps.secrets.redact(JSON.stringify(value)));
}

function shownText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shownExports(
  deps: Pick<StepDeps, "secrets">,
  exports: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(exports).map(([name, value]) => [
      name,
      deps.secrets.redact(shownText(value)).slice(0, SHOWN_EXPORT_MAX),
    ]),
  );
}
