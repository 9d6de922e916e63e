import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { PinnedModule } from "../engine/program.ts";
import type { Definition, Hook } from "../schema/types.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import type { Definitions } from "../store/store.ts";

type PlanDeps = Pick<Ports, "tables"> & { readonly definitions: Definitions };

/** The modules of a run with their pinned revisions. */
export interface PinnedWorkflow {
  readonly modules: readonly PinnedModule[];
  readonly definitions: readonly Definition[];
  readonly problem?: string;
}

/** What a run executes; resolved once for all runs of a job. */
export interface Plan extends PinnedWorkflow {
  readonly definition: Definition;
  readonly revision: number;
}

/** Throws `not_found` and `bad_request` if the workflow does not exist. */
export async function planFor(
  deps: PlanDeps,
  request: {
    readonly workflow: string;
    readonly revision?: number | undefined;
    readonly eventId?: string | undefined;
  },
): Promise<Plan> {
  const { name, revision } =
    request.revision === undefined
      ? await findWorkflow(deps, request.workflow)
      : { name: request.workflow, revision: request.revision };
  const definition = await deps.definitions.get(name, revision);
  return { definition, revision, ...(await pinFor(deps, request, definition, revision)) };
}

/** An invalid flow is an error for a caller who starts a run, and a failed run for a trigger. */
async function pinFor(
  deps: PlanDeps,
  request: { readonly eventId?: string | undefined },
  definition: Definition,
  revision: number,
): Promise<PinnedWorkflow> {
  try {
    return await pinModules(deps, definition, revision);
  } catch (error) {
    if (request.eventId === undefined || !(error instanceof ApiError)) throw error;
    const own = { name: definition.name, workflow: definition.name, revision };
    return { modules: [own], definitions: [definition], problem: error.message };
  }
}

async function pinModules(deps: PlanDeps, definition: Definition, revision: number): Promise<PinnedWorkflow> {
  if (definition.kind === "module") {
    return {
      modules: [{ name: definition.name, workflow: definition.name, revision }],
      definitions: [definition],
    };
  }
  const modules: PinnedModule[] = [];
  const definitions: Definition[] = [];
  const pinHooks = (hook: Hook): void => {
    if ((definition.hooks?.[hook] ?? []).length === 0) return;
    modules.push({ name: hook, workflow: definition.name, revision, hook });
    definitions.push(definition);
  };
  pinHooks("pre_scan_steps");
  for (const [index, module] of definition.modules.entries()) {
    if (module.steps !== undefined) {
      modules.push({ name: module.name, workflow: definition.name, revision, inline: index });
      definitions.push(definition);
      continue;
    }
    const head = await findWorkflow(deps, moduleName(module.path ?? module.name));
    if (head.kind !== "module") {
      throw new ApiError(
        "bad_request",
        `modules: ${module.name} is a flow, but a flow can contain only modules`,
      );
    }
    modules.push({ name: module.name, workflow: head.name, revision: head.revision });
    definitions.push(await deps.definitions.get(head.name, head.revision));
  }
  pinHooks("post_scan_steps");
  return { modules, definitions };
}

/** `common/enum-ports.yaml` names the stored workflow `enum-ports`. */
function moduleName(path: string): string {
  return (path.split("/").at(-1) ?? path).replace(/\.ya?ml$/, "");
}
