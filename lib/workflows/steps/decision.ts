import { StepCancelled } from "../engine/step-failure.ts";
import { parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/text.ts";
import type { Decision, DecisionCase } from "../schema/types.ts";
import { runCommandAction } from "./actions.ts";
import type { Attempt, Scope } from "./context.ts";
import { evaluateScript, isTrue } from "./script.ts";

/**
 * What follows a step that succeeded: the case that its switch picks, then all conditions that hold. Answers where the
 * last of them goes. What a case runs and fails is told of, and passed over. Throws StepFailed where the switch or a
 * condition cannot be evaluated. Reference 2.4.
 */
export async function followDecision(
  attempt: Attempt,
  scope: Scope,
  decision: Decision,
): Promise<string | undefined> {
  let goto: string | undefined;
  for (const one of await casesOf(attempt, scope, decision)) {
    await carryOut(attempt, scope, one);
    goto = one.goto ?? goto;
  }
  return goto;
}

async function casesOf(
  attempt: Attempt,
  scope: Scope,
  { switch: source, cases, default: otherwise, conditions }: Decision,
): Promise<DecisionCase[]> {
  const picked: DecisionCase[] = [];
  if (source !== undefined) {
    const value = renderText(parseTemplate(source, scope), scope.values).trim();
    const found = Object.hasOwn(cases, value) ? cases[value] : otherwise;
    if (found !== undefined) picked.push(found);
  }
  for (const condition of conditions) if (await isTrue(attempt, scope, condition.if)) picked.push(condition);
  return picked;
}

async function carryOut(
  attempt: Attempt,
  scope: Scope,
  { commands, functions }: DecisionCase,
): Promise<void> {
  try {
    for (const command of commands) await runCommandAction(attempt, scope, command);
    for (const source of functions) await evaluateScript(attempt, scope, source);
  } catch (error) {
    if (error instanceof StepCancelled || attempt.signal.aborted) throw error;
    attempt.deps.log.warn("a decision's case failed", {
      ...{ run: attempt.run.run_id, step: attempt.request.key, error },
    });
  }
}
