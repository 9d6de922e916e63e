import type { BusEntry } from "../../platform/bus.ts";
import type { Write } from "../../platform/tables.ts";
import { decide } from "../engine/decide.ts";
import { admitNewRun, admitWaiting, noteStart } from "./admission.ts";
import { afterCommit, type ConductDeps, commitDecision } from "./conduct.ts";
import type { ComposedRun } from "./create.ts";
import { keptProgramOf } from "./kept-runs.ts";
import { inTurnOfRun } from "./run-turns.ts";
import type { StoredRun } from "./table.ts";

/** Further writes and messages of the commit that creates a run. */
export interface WithCreation {
  readonly writes: readonly Write[];
  readonly publish: readonly BusEntry[];
}

/**
 * Creates a run and starts it in the same commit: the same decision as its start message would cause, without the
 * message. Only where the commit includes the requests for its first steps, since nothing sends them again.
 *
 * Returns false if nothing was committed: the run exists, does not start now, or a condition failed. The caller then
 * creates it in a commit of its own, whose start message is retried and counted if its start fails.
 */
export function createStarted(deps: ConductDeps, created: ComposedRun, more: WithCreation): Promise<boolean> {
  const { run, starts } = created;
  if (deps.outbox.atomic !== true || !starts) return Promise.resolve(false);
  return inTurnOfRun(deps, run.run_id, () =>
    tryToCreate(deps, created, more).catch((error: unknown) => {
      deps.log.warn("a run is started by a message: starting it with its creation failed", {
        run: run.run_id,
        error,
      });
      return false;
    }),
  );
}

async function tryToCreate(
  deps: ConductDeps,
  { run, others, values }: ComposedRun,
  more: WithCreation,
): Promise<boolean> {
  const program = await keptProgramOf(deps, run);
  const input = { type: "start" } as const;
  const decision = decide(program, run.state, input);
  const admission = await admitNewRun(deps, run);
  if (admission === undefined) return false;
  const message = { run_id: run.run_id, input, report: undefined };
  const creation = { writes: [...others, ...more.writes], publish: more.publish, values };
  let committed: StoredRun | undefined;
  try {
    committed = await commitDecision(deps, run, program, decision, message, admission, creation);
  } finally {
    if (committed === undefined) {
      deps.runSlots.forget(admission.slot);
      // Another run may have been queued meanwhile because this one had the last slot.
      await admitWaiting(deps);
    }
  }
  if (committed === undefined) return false;
  noteStart(deps, committed);
  await afterCommit(deps, run, committed, decision, admission);
  return true;
}
