import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "../../events/consumer.ts";
import { findLabelIssue } from "../../events/control-characters.ts";
import type { Ports } from "../../platform/ports.ts";
import { formatPositions } from "../engine/item-positions.ts";
import { failureText, StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import type { StepRequestEntry } from "../engine/walk.ts";
import type { FunctionStep, LeafStep } from "../schema/types.ts";
import { TEMP_FOLDER } from "../values/built-in-values.ts";
import type { WorkspaceChange } from "../workspaces/layers.ts";
import { attemptStep, NO_OUTPUT } from "./attempt-step.ts";
import { runBatch } from "./batch.ts";
import { enterContainer, leaveContainer } from "./container-steps.ts";
import type { Attempt, LoopValue, Scope, StepDeps } from "./context.ts";
import { deadlineOf } from "./deadline.ts";
import { loadItems } from "./foreach-items.ts";
import {
  attemptKey,
  attemptReleasedKey,
  type LoopPosition,
  openWork,
  runFinishedKey,
  type StepCommand,
  type StepWork,
  sendToConductor,
} from "./messages.ts";
import { passGate, runHandlers } from "./module-gate.ts";
import { toLocalPaths } from "./portable-paths.ts";
import { bindLoop, openScope } from "./scope.ts";
import { type ClaimedStep, logStepStart, reportOutcome, type StepOutcome } from "./step-outcome.ts";

/** How often a running step checks whether its run has ended, milliseconds. */
const LOOK_EVERY_MS = 400;

interface RunWatch {
  /** Aborted when the run has ended, or the platform stops. */
  readonly signal: AbortSignal;
  /** True if the run has ended, so the result is not needed. */
  isOver(): boolean;
  stop(): void;
}

/** Watches for the end of a run while one of its steps runs. */
function watchRun(deps: Pick<Ports, "claims" | "log">, runId: string, outer: AbortSignal): RunWatch {
  const controller = new AbortController();
  let over = false;
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || over) return;
    busy = true;
    try {
      over = await deps.claims.isTaken(runFinishedKey(runId));
      if (over) controller.abort();
    } catch (error) {
      deps.log.warn("checking whether a run has finished failed", { run: runId, error });
    }
    busy = false;
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  timer.unref();
  const onOuter = (): void => controller.abort();
  outer.addEventListener("abort", onOuter, { once: true });
  if (outer.aborted) controller.abort();
  return {
    signal: controller.signal,
    isOver: () => over,
    stop: () => {
      clearInterval(timer);
      outer.removeEventListener("abort", onOuter);
    },
  };
}

/**
 * Executes a requested step and reports to the conductor. Drops duplicate deliveries, and steps of finished runs. If an
 * earlier delivery may have done the work, the step is reported as lost: the conductor knows whether it is still
 * needed. That costs no attempt if the whole server stopped.
 */
export async function executeStep(
  deps: StepDeps,
  command: StepCommand,
  { receiveCount, interrupted = 0 }: Pick<Message<unknown>, "receiveCount" | "interrupted">,
  signal: AbortSignal,
): Promise<void> {
  const { run_id, request } = command;
  const deliveries = receiveCount + interrupted;
  const number = (request.attempt ?? 1) + deliveries - 1;
  if (await deps.claims.isTaken(runFinishedKey(run_id))) return;
  if (
    deliveries > 1 &&
    !(await deps.claims.isTaken(attemptReleasedKey(run_id, request.dispatch, number - 1)))
  ) {
    const { key, dispatch } = request;
    const spared = interrupted === 0 ? {} : { interrupted };
    const input = { type: "lost", key, dispatch, attempt: number, ...spared } as const;
    return sendToConductor(deps, { run_id, input }, `lost:${dispatch}:${number}`);
  }
  if (!(await deps.claims.take(attemptKey(run_id, request.dispatch, number)))) return;
  const watch = watchRun(deps, run_id, signal);
  try {
    const claimed = await open(deps, command, number, watch.signal);
    await inWorkspace(deps, claimed, async (finish) => {
      const outcome = await observed(deps, claimed, () => executeClaimed(claimed));
      if (watch.isOver()) return;
      const { outcome: concluded, files } = await finish(outcome);
      if (!watch.isOver()) await reportOutcome(deps, claimed, concluded, files);
    });
  } catch (thrown) {
    if (watch.isOver() || (thrown instanceof StepCancelledError && !signal.aborted)) return;
    await deps.claims.take(attemptReleasedKey(run_id, request.dispatch, number)).catch((error: unknown) => {
      deps.log.warn("releasing a step failed", { run: run_id, step: request.key, error });
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
): Promise<ClaimedStep> {
  const { run_id, request } = command;
  const startedAt = deps.clock.now();
  const work = await openWork(deps, command);
  const { workflow_name, workspace: name, hop, hop_token = "", unlogged, undefined_names, step } = work;
  const workspace = join(deps.paths.workspacesDir, name);
  const logs = join(deps.paths.logsDir, run_id);
  if (command.execution_target === "workspace") {
    // Checking first is much cheaper than creating, and the folders nearly always exist.
    if (!existsSync(workspace)) await mkdir(workspace, { recursive: true });
    if (!existsSync(logs)) await mkdir(logs, { recursive: true, mode: 0o700 });
  }
  let sent = 0;
  const tries = request.tries ?? 1;
  const attempt: Attempt = {
    deps,
    run: {
      run_id,
      workflow_name,
      workspace: name,
      hop,
      hop_token,
      ...(unlogged === true ? { unlogged } : {}),
      ...(undefined_names === undefined ? {} : { undefined_names }),
    },
    step,
    request,
    number: number + tries - 1,
    tries,
    shown: { command: "", environment: {}, logFile: "" },
    signal,
    workspace,
    logs,
    deadline: undefined,
    ...(work.absent === undefined ? {} : { absent: work.absent }),
    emit: async (drafts) => {
      for (const draft of drafts) {
        const fault = findLabelIssue(draft);
        if (fault !== undefined) throw new StepFailedError(`event: ${fault}`);
      }
      sent += 1;
      const id = `${request.dispatch}.${number}.${sent}`;
      await sendToConductor(deps, { run_id, events: { id, drafts } }, `events:${id}`);
    },
  };
  return { attempt, work, startedAt };
}

/** Does a step's work, and records when it ran. */
async function observed<Result>(
  { stepActivity }: StepDeps,
  { attempt, work }: ClaimedStep,
  execute: () => Promise<Result>,
): Promise<Result> {
  const { run_id } = attempt.run;
  const end = stepActivity?.begin({ run_id, root_cause: work.root_cause ?? run_id });
  try {
    return await execute();
  } finally {
    end?.();
  }
}

type Finish = (
  outcome: StepOutcome,
) => Promise<{ readonly outcome: StepOutcome; readonly files?: WorkspaceChange }>;

/**
 * Does the work of a step in its workspace. If machines share the workspace, its folder is updated first. A step whose
 * files cannot be shared fails.
 */
async function inWorkspace(
  { workspaceSync }: StepDeps,
  { attempt, work }: ClaimedStep,
  execute: (finish: Finish) => Promise<void>,
): Promise<void> {
  if (workspaceSync === undefined || work.layers === undefined)
    return execute(async (outcome) => ({ outcome }));
  const opened = await workspaceSync.open(work.workspace, work.layers);
  try {
    await execute(async (outcome) => {
      try {
        const files = await opened.finish();
        return files === undefined ? { outcome } : { outcome, files };
      } catch (thrown) {
        if (!(thrown instanceof StepFailedError)) throw thrown;
        const error = attempt.deps.secrets.redact(failureText(thrown));
        return { outcome: { ...NO_OUTPUT, status: "failed", error } };
      }
    });
  } finally {
    opened.leave();
  }
}

async function executeClaimed(claimed: ClaimedStep): Promise<StepOutcome> {
  const { attempt: opened, work, startedAt } = claimed;
  const { deps, request, step } = opened;
  logStepStart(opened);
  try {
    const loops = await openLoops(deps, opened.run.run_id, work.loops);
    const variables = loops.map(({ variable }) => variable);
    if (work.batch !== undefined) variables.push(work.batch.variable);
    const scope = loops.reduce(bindLoop, await openScope(deps, work, variables, opened.number));
    if ("TempDir" in scope.values || "TempFile" in scope.values) await makeTempFolder(opened.workspace);
    if (request.items !== undefined && work.batch !== undefined) {
      const inTime = { ...opened, deadline: work.deadline };
      return await findBatch(inTime, scope, request.items, work.batch, loops);
    }
    const deadline = deadlineOf(step, scope, work.deadline, deps.clock.now());
    const attempt = { ...opened, deadline };
    if (request.phase === "enter") return await enterContainer(attempt, scope, startedAt);
    if (request.phase === "leave") return await leaveContainer(attempt, scope, work);
    if (request.phase === "gate") return await passGate(attempt, scope, step as FunctionStep, work.given);
    if (request.phase === "handlers")
      return await runHandlers(attempt, scope, step as FunctionStep, work.ended?.error);
    return await attemptStep(attempt, scope, step as LeafStep);
  } catch (thrown) {
    if (!(thrown instanceof StepFailedError) && !(thrown instanceof Error && thrown.name === "TemplateError"))
      throw thrown;
    return { ...NO_OUTPUT, status: "failed", error: deps.secrets.redact(failureText(thrown)) };
  }
}

/** Creates `{{TempDir}}`, since an earlier step may have deleted it. */
async function makeTempFolder(workspace: string): Promise<void> {
  const path = join(workspace, TEMP_FOLDER);
  if (!existsSync(path)) await mkdir(path, { recursive: true });
}

/** Returns the loop variables around a step with their values, outermost first. */
async function openLoops(
  deps: StepDeps,
  runId: string,
  places: readonly LoopPosition[],
): Promise<LoopValue[]> {
  return Promise.all(
    places.map(async ({ variable, foreach_key, index }) => {
      const { items, from } = await loadItems(deps, runId, foreach_key, index);
      return { variable, value: toLocalPaths(deps, items[index - from] ?? ""), index };
    }),
  );
}

async function findBatch(
  attempt: Attempt,
  scope: Scope,
  items: NonNullable<StepRequestEntry["items"]>,
  batch: NonNullable<StepWork["batch"]>,
  outer: readonly LoopValue[],
): Promise<StepOutcome> {
  const { variable, foreach_key: foreachKey, parallel } = batch;
  const loop = { variable, foreachKey, parallel, outer };
  const result = await runBatch(attempt, attempt.step as LeafStep, scope, items, loop);
  const failed = result.failed.length > 0;
  return {
    ...NO_OUTPUT,
    status: failed ? "failed" : "completed",
    ...(failed ? { error: result.error ?? "failed" } : {}),
    output: result.output,
    failedItems: result.failed.length,
    ...(failed ? { failedAt: formatPositions(result.failed) } : {}),
  };
}
