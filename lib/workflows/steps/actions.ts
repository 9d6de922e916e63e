import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { Action, BashStep } from "../schema/types.ts";
import { runBash } from "./bash.ts";
import type { Attempt, Scope } from "./context.ts";
import { evaluateScript, isTrue } from "./script.ts";

export interface ActionOutcome {
  /** Set by `action: continue`: the failure does not end the run. */
  readonly tolerated: boolean;
  readonly exports: Readonly<Record<string, unknown>>;
}

/**
 * Runs the actions of `on_success` or `on_error`, in order. A failing action is logged and ignored: it does not change
 * the step's outcome.
 */
export async function runActions(
  attempt: Attempt,
  scope: Scope,
  actions: readonly Action[],
): Promise<ActionOutcome> {
  let tolerated = false;
  const exports: Record<string, unknown> = {};
  for (const action of actions) {
    try {
      if (action.condition !== undefined && !(await isTrue(attempt, scope, action.condition))) continue;
      if (action.action === "continue") tolerated = true;
      else if (action.action === "abort") tolerated = false;
      else await carryOut(attempt, scope, action, exports);
    } catch (error) {
      attempt.deps.log.warn("action failed", {
        run: attempt.run.run_id,
        step: attempt.request.key,
        action: action.action,
        error,
      });
    }
  }
  return { tolerated, exports };
}

async function carryOut(
  attempt: Attempt,
  scope: Scope,
  action: Action,
  exports: Record<string, unknown>,
): Promise<void> {
  const text = (source: string | undefined): string =>
    renderText(parseTemplate(source ?? "", scope), scope.values);
  if (action.action === "export" && action.name !== undefined) exports[action.name] = text(action.value);
  else if (action.action === "run" && action.command !== undefined)
    await runCommandAction(attempt, scope, action.command);
  else if (action.action === "run")
    for (const source of action.functions ?? []) await evaluateScript(attempt, scope, source);
  else {
    const message = attempt.deps.secrets.redact(text(action.message));
    attempt.deps.log.info("workflow message", {
      run: attempt.run.run_id,
      step: attempt.request.key,
      text: message,
    });
    if (action.action === "notify") await tellWebhooks(attempt, message);
  }
}

/** Without the secret of webhook addresses, a notification is only logged. */
async function tellWebhooks(attempt: Attempt, text: string): Promise<void> {
  const { NOTIFY_SECRET, handleHostCall } = await import("./host-calls.ts");
  if ((await attempt.deps.secrets.get(NOTIFY_SECRET)) === undefined) return;
  await attempt.deps.durable?.();
  await handleHostCall(attempt, "notify", { event: "action_notify", text }, attempt.signal);
}

/** Runs a command in addition to the step's own work. Throws StepFailedError. */
export async function runCommandAction(attempt: Attempt, scope: Scope, command: string): Promise<void> {
  await runBash(attempt, scope, bashOf(attempt, command));
}

function bashOf(attempt: Attempt, command: string): BashStep {
  return { type: "bash", name: attempt.step.name, command, exports: {}, on_success: [], on_error: [] };
}
