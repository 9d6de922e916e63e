import type { Definition, Step } from "../definition/types.ts";

/** One module of a run: its steps, in order, and where they were read from. */
export interface ProgramModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  readonly steps: readonly Step[];
  readonly byName: ReadonlyMap<string, Step>;
}

/** What a run executes: one module, or the modules of a flow one after another. */
export interface Program {
  readonly modules: readonly ProgramModule[];
}

/** Names of modules as a run pins them: the revision that it runs stays the one that it started with. */
export interface PinnedModule {
  readonly name: string;
  readonly workflow: string;
  readonly revision: number;
  /** Position among the modules of a flow whose steps stand in the flow itself. */
  readonly inline?: number;
}

/** Builds the program of pinned modules from their definitions, in the same order. */
export function buildProgram(pinned: readonly PinnedModule[], definitions: readonly Definition[]): Program {
  return {
    modules: pinned.map((module, index) => {
      const definition = definitions[index];
      const steps =
        module.inline === undefined
          ? (definition?.steps ?? [])
          : (definition?.modules[module.inline]?.steps ?? []);
      return {
        name: module.name,
        workflow: module.workflow,
        revision: module.revision,
        steps,
        byName: new Map(everyStep(steps).map((step) => [step.name, step])),
      };
    }),
  };
}

/** All steps, nested ones after the step that holds them. */
export function everyStep(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...everyStep(childrenOf(step))]);
}

function childrenOf(step: Step): readonly Step[] {
  if (step.type === "parallel-steps") return step.parallel_steps;
  if (step.type === "foreach") return [step.step];
  return [];
}

export function totalSteps(program: Program): number {
  return program.modules.reduce((sum, module) => sum + module.steps.length, 0);
}
