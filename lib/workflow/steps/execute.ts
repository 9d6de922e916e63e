import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ForeachStep, FunctionStep, LeafStep, ParallelSteps, Step } from "../definition/types.ts";
import type { Input } from "../engine/decide.ts";
import type { Request } from "../engine/walk.ts";
import {
  attemptMark,
  type LoopPlace,
  openWork,
  overMark,
  releaseMark,
  type StepCommand,
  type StepReport,
  type StepWork,
  sendToConductor,
} from "../runs/messages.ts";
import { type KeptValue, keepValue, openValue, VALUES_INLINE_BYTES } from "../runs/values.ts";
import { parseTemplate } from "../templates/parse.ts";
import { renderValue } from "../templates/text.ts";
import type { WorkspaceChange } from "../workspaces/layers.ts";
import { PARALLEL_MAX, runBatch } from "./batch.ts";
import type { Attempt, LoopValue, Scope, StepDeps } from "./context.ts";
import { deadlineOf, timeoutOf } from "./deadline.ts";
import { failureText, StepCancelled, StepFailed } from "./failure.ts";
import { passGate, runHandlers } from "./gate.ts";
import { layOutItems, loadItems } from "./items.ts";
import { attemptLeaf, begin, guarded, type LeafResult, NO_OUTPUT } from "./leaf.ts";
import { outputName } from "./names.ts";
import { noteStep } from "./run-log.ts";
import { bindLoop, openScope } from "./scope.ts";
import { streamOutput } from "./stream-output.ts";
import { arrived, travelling } from "./travel.ts";
import { watchRun } from "./watch.ts";

/** Command, output and exports as they are shown in a step's row, characters. */
const SHOWN_COMMAND_MAX = 8_000;
const SHOWN_OUTPUT_MAX = 16_000;
const SHOWN_EXPORT_MAX = 1_000;

/** What an executor found out: the conductor's input and what goes into the step's row. */
interface Finding extends LeafResult {
  readonly total?: number;
  readonly parallel?: number;
  readonly deadline?: number;
  readonly failedItems?: number;
}

/** A step that was taken: the attempt, what came with it, and when it began by the clock. */
interface Taken {
  readonly attempt: Attempt;
  readonly work: StepWork;
  readonly startedAt: number;
}

/**
 * Executes a step that was requested, and reports to the conductor. A copy of a delivery, and a step of a run
 * that is over, are dropped. A delivery whose forerunner may have done the work goes back to the conductor,
 * who knows whether the step is still wanted. `deliveries` counts those of this message, from 1.
 */
export async function executeStep(
  deps: StepDeps,
  command: StepCommand,
  deliveries: number,
  signal: AbortSignal,
): Promise<void> {
  const { run_id, request } = command;
  const number = (request.attempt ?? 1) + deliveries - 1;
  if (await deps.claims.isTaken(overMark(run_id))) return;
  if (deliveries > 1 && !(await deps.claims.isTaken(releaseMark(run_id, request.dispatch, number - 1)))) {
    const { key, dispatch } = request;
    const input = { type: "lost", key, dispatch, attempt: number } as const;
    return sendToConductor(deps, { run_id, input }, `lost:${dispatch}:${number}`);
  }
  if (!(await deps.claims.take(attemptMark(run_id, request.dispatch, number)))) return;
  const watch = watchRun(deps, run_id, signal);
  try {
    const taken = await open(deps, command, number, watch.signal);
    await inWorkspace(deps, taken, async (finish) => {
      const finding = await find(taken);
      if (watch.isOver()) return;
      const { finding: concluded, files } = await finish(finding);
      if (!watch.isOver()) await report(deps, taken, concluded, files);
    });
  } catch (thrown) {
    if (watch.isOver() || (thrown instanceof StepCancelled && !signal.aborted)) return;
    await deps.claims.take(releaseMark(run_id, request.dispatch, number)).catch((error: unknown) => {
      deps.log.warn("a step could not be given back", { run: run_id, step: request.key, error });
    });
    throw thrown;
  } finally {
    watch.stop();
  }
}

async function open(
  deps: StepDeps,
  command: StepCommand,
  number: number,
  signal: AbortSignal,
): Promise<Taken> {
  const { run_id, request } = command;
  const startedAt = deps.clock.now();
  const work = await openWork(deps, command);
  const { workflow_name, workspace: name, hop, hop_token = "", unlogged, step } = work;
  const workspace = join(deps.paths.workspacesDir, name);
  const logs = join(deps.paths.logsDir, run_id);
  // Looking is much cheaper than making, and nearly always enough.
  if (!existsSync(workspace)) await mkdir(workspace, { recursive: true });
  if (!existsSync(logs)) await mkdir(logs, { recursive: true, mode: 0o700 });
  let sent = 0;
  const tries = request.tries ?? 1;
  const attempt: Attempt = {
    deps,
    run: {
      ...{ run_id, workflow_name, workspace: name, hop, hop_token },
      ...(unlogged === true ? { unlogged } : {}),
    },
    step,
    request,
    number: number + tries - 1,
    tries,
    signal,
    workspace,
    logs,
    deadline: undefined,
    emit: async (drafts) => {
      sent += 1;
      const id = `${request.dispatch}.${number}.${sent}`;
      await sendToConductor(deps, { run_id, events: { id, drafts } }, `events:${id}`);
    },
  };
  return { attempt, work, startedAt };
}

type Finish = (finding: Finding) => Promise<{ readonly finding: Finding; readonly files?: WorkspaceChange }>;

/**
 * Does the work of a step in its workspace, which is first brought to what it is elsewhere where machines
 * share it. A step whose files cannot be shared has failed.
 */
async function inWorkspace(
  { workspaceSync }: StepDeps,
  { attempt, work }: Taken,
  execute: (finish: Finish) => Promise<void>,
): Promise<void> {
  if (workspaceSync === undefined || work.layers === undefined)
    return execute(async (finding) => ({ finding }));
  const opened = await workspaceSync.open(work.workspace, work.layers);
  try {
    await execute(async (finding) => {
      try {
        const files = await opened.finish();
        return files === undefined ? { finding } : { finding, files };
      } catch (thrown) {
        if (!(thrown instanceof StepFailed)) throw thrown;
        const error = attempt.deps.secrets.redact(failureText(thrown));
        return { finding: { ...NO_OUTPUT, status: "failed", error } };
      }
    });
  } finally {
    opened.leave();
  }
}

async function find(taken: Taken): Promise<Finding> {
  const { attempt: opened, work, startedAt } = taken;
  const { deps, request, step } = opened;
  noteStart(opened);
  try {
    const loops = await openLoops(deps, opened.run.run_id, work.loops);
    const variables = loops.map(({ variable }) => variable);
    if (work.batch !== undefined) variables.push(work.batch.variable);
    const scope = loops.reduce(bindLoop, await openScope(deps, work, variables, opened.number));
    if (request.items !== undefined && work.batch !== undefined) {
      const inTime = { ...opened, deadline: work.deadline };
      return await findBatch(inTime, scope, request.items, work.batch, loops);
    }
    const deadline = deadlineOf(step, scope, work.deadline, deps.clock.now());
    const attempt = { ...opened, deadline };
    if (request.phase === "enter") return await findEntered(attempt, scope, startedAt);
    if (request.phase === "leave") return await findLeft(attempt, scope, work);
    if (request.phase === "gate") return await passGate(attempt, scope, step as FunctionStep, work.given);
    if (request.phase === "handlers")
      return await runHandlers(attempt, scope, step as FunctionStep, work.ended?.error);
    return await attemptLeaf(attempt, scope, step as LeafStep);
  } catch (thrown) {
    if (!(thrown instanceof StepFailed) && !(thrown instanceof Error && thrown.name === "TemplateError"))
      throw thrown;
    return { ...NO_OUTPUT, status: "failed", error: deps.secrets.redact(failureText(thrown)) };
  }
}

function noteStart(attempt: Attempt): void {
  const { request, step, number } = attempt;
  if (request.phase === "leave") return;
  const items = request.items === undefined ? "" : `, items ${request.items[0] + 1} to ${request.items[1]}`;
  noteStep(attempt, `started (${step.type}${items}${number > 1 ? `, attempt ${number}` : ""})`);
}

/** How a step ended, and what it gave unless its log has it already. */
function noteEnd({ attempt, startedAt }: Taken, finding: Finding): void {
  const { request, deps, step } = attempt;
  if (request.phase === "enter" && finding.status === "completed") {
    if (step.type === "foreach") noteStep(attempt, `${finding.total ?? 0} items`);
    return;
  }
  const output = step.type === "bash" || request.items !== undefined ? "" : shownText(finding.output);
  if (output !== "" && request.phase === "run") noteStep(attempt, output.slice(0, SHOWN_OUTPUT_MAX), "| ");
  const took = `after ${Math.max(0, deps.clock.now() - startedAt)} ms`;
  const why = finding.status === "failed" ? `: ${finding.error ?? ""}` : "";
  noteStep(attempt, `${finding.status} ${took}${why}`);
}

/** The loop variables around a step with their values, outermost first. */
async function openLoops(deps: StepDeps, runId: string, places: readonly LoopPlace[]): Promise<LoopValue[]> {
  return Promise.all(
    places.map(async ({ variable, foreach_key, index }) => {
      const { items, from } = await loadItems(deps, runId, foreach_key, index);
      return { variable, value: arrived(deps, items[index - from] ?? ""), index };
    }),
  );
}

/** Before the children: condition, message, how many children there are, and when they must be done. */
async function findEntered(attempt: Attempt, scope: Scope, startedAt: number): Promise<Finding> {
  const { step } = attempt;
  let entered: Pick<Finding, "total" | "parallel" | "deadline"> | undefined;
  const result = await guarded(attempt, scope, { ...step, exports: {}, on_success: [] }, async () => {
    if (!(await begin(attempt, scope, step))) return undefined;
    const timeoutMs = timeoutOf(step, scope);
    entered = {
      ...(step.type === "foreach"
        ? { total: await layOutItems(attempt, scope, step), parallel: parallelOf(step, scope) }
        : { total: (step as ParallelSteps).parallel_steps.length, parallel: PARALLEL_MAX }),
      ...(timeoutMs === undefined ? {} : { deadline: startedAt + timeoutMs }),
    };
    return NO_OUTPUT;
  });
  return result.status === "completed" ? { ...result, exports: {}, ...entered } : result;
}

/** How many items of a foreach run at once. Throws StepFailed for what is no positive whole number. */
function parallelOf(step: ForeachStep, scope: Scope): number {
  const value =
    typeof step.parallel === "number"
      ? step.parallel
      : Number(renderValue(parseTemplate(step.parallel, scope), scope.values));
  if (!Number.isInteger(value) || value < 1)
    throw new StepFailed("parallel: must be a whole number of at least 1");
  return Math.min(PARALLEL_MAX, value);
}

/** After the children: output, exports and handlers of the container, by how the children ended. */
async function findLeft(attempt: Attempt, scope: Scope, work: StepWork): Promise<Finding> {
  const { failed = 0, error, outputs = [], deadline } = work.children ?? {};
  const output = await childrenOutput(attempt, work, outputs);
  return guarded(attempt, scope, attempt.step, async () => {
    await streamOutput(attempt, scope, attempt.step, work, outputs);
    if (deadline !== undefined && attempt.deps.clock.now() >= deadline) {
      throw new StepFailed(`timed out after ${timeoutOf(attempt.step, scope) ?? 0} ms`);
    }
    if (failed > 0) throw new StepFailed(error ?? "failed");
    return { ...NO_OUTPUT, output };
  });
}

/** Outputs of the children, in their order; those of a foreach batch by batch. */
async function childrenOutput(
  { deps }: Attempt,
  { values }: StepWork,
  names: readonly string[],
): Promise<string> {
  const texts: string[] = [];
  let length = 0;
  for (const name of names) {
    const kept = values[name];
    if (kept === undefined || length > CHILDREN_OUTPUT_MAX) continue;
    const text = shownText(await openValue(deps, kept));
    if (text === "") continue;
    texts.push(text);
    length += text.length;
  }
  return texts.join("\n").slice(0, CHILDREN_OUTPUT_MAX);
}

/** Output of all children of a container that is kept, characters. */
const CHILDREN_OUTPUT_MAX = 10 * 1024 * 1024;

async function findBatch(
  attempt: Attempt,
  scope: Scope,
  items: NonNullable<Request["items"]>,
  batch: NonNullable<StepWork["batch"]>,
  outer: readonly LoopValue[],
): Promise<Finding> {
  const { variable, foreach_key: foreachKey, parallel } = batch;
  const loop = { variable, foreachKey, parallel, outer };
  const result = await runBatch(attempt, attempt.step as LeafStep, scope, items, loop);
  const failed = result.failed > 0;
  return {
    ...NO_OUTPUT,
    status: failed ? "failed" : "completed",
    ...(failed ? { error: result.error ?? "failed" } : {}),
    output: result.output,
    failedItems: result.failed,
  };
}

async function report(
  deps: StepDeps,
  taken: Taken,
  finding: Finding,
  files: WorkspaceChange | undefined,
): Promise<void> {
  const { run, request, step, number } = taken.attempt;
  noteEnd(taken, finding);
  const entered = request.phase === "enter" && finding.status === "completed";
  const values: Record<string, KeptValue> = {};
  let inlineBytes = VALUES_INLINE_BYTES;
  for (const [name, value] of Object.entries(entered ? {} : namedValues(finding, step, request))) {
    const kept = await keepValue(deps, run.run_id, travelling(deps, redacted(deps, value)), inlineBytes);
    if ("json" in kept) inlineBytes -= Buffer.byteLength(kept.json);
    values[name] = kept;
  }
  const text = travelling(deps, shownText(finding.output));
  const input: Input = {
    type: "result",
    key: request.key,
    dispatch: request.dispatch,
    status: finding.status,
    ...(finding.error === undefined ? {} : { error: finding.error }),
    ...(finding.tolerated === undefined ? {} : { tolerated: finding.tolerated }),
    ...(finding.total === undefined ? {} : { total: finding.total }),
    ...(finding.parallel === undefined ? {} : { parallel: finding.parallel }),
    ...(finding.deadline === undefined ? {} : { deadline: finding.deadline }),
    ...(finding.failedItems === undefined ? {} : { failed_items: finding.failedItems }),
    ...(finding.goto === undefined ? {} : { goto: finding.goto }),
    ...(finding.retryAt === undefined ? {} : { retry_at: finding.retryAt }),
  };
  const report: StepReport = {
    attempt: number,
    command: travelling(deps, deps.secrets.redact(finding.command)).slice(0, SHOWN_COMMAND_MAX),
    output: deps.secrets.redact(text.slice(0, SHOWN_OUTPUT_MAX)),
    output_truncated: text.length > SHOWN_OUTPUT_MAX,
    output_lines: text === "" ? 0 : text.split("\n").length,
    duration_ms: Math.max(0, deps.clock.now() - taken.startedAt),
    log_file: finding.logFile.split("/").at(-1) ?? "",
    exports: shownExports(deps, finding.exports),
    values,
    ...(files === undefined ? {} : { files }),
  };
  await sendToConductor(deps, { run_id: run.run_id, input, report }, `${request.dispatch}`);
}

/**
 * What later steps may name. Items of a foreach would overwrite each other's: a step inside one leaves its output alone,
 * for the foreach, and that apart.
 */
function namedValues(finding: Finding, step: Step, { key, phase }: Request): Record<string, unknown> {
  const ofModule = phase === "gate" || phase === "handlers";
  return key.includes("#") && !ofModule
    ? { [outputName(step.name, key)]: finding.output }
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
  deps: Pick<StepDeps, "secrets" | "paths" | "workspaceSync">,
  exports: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(exports).map(([name, value]) => [
      name,
      travelling(deps, deps.secrets.redact(shownText(value))).slice(0, SHOWN_EXPORT_MAX),
    ]),
  );
}
