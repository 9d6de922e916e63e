import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { buildProgram } from "../engine/program.ts";
import { builtinValues } from "../values/built-in-values.ts";
import { paramValues } from "../values/param-values.ts";
import { workspaceName } from "../workspaces/workspace-name.ts";
import { type PlanDeps, PlannedSteps, plannedStep } from "./dry-run-steps.ts";
import { readStart, type StartBody, type StartDeps } from "./start.ts";

/** Response of a dry run. */
export const dryRunResponse = z
  .object({
    message: z.string(),
    dry_run: z.literal(true),
    workflow: z.string(),
    kind: z.enum(["module", "flow"]),
    target: z.string().describe("Target of the plan: the first one"),
    targets: z.array(z.string()),
    target_count: z.int(),
    priority: z.string(),
    workspace: z.string(),
    params: z.record(z.string(), z.string()),
    builtins: z.record(z.string(), z.string()),
    steps: z.array(plannedStep),
  })
  .meta({ id: "DryRun" });

/** Placeholder for the run id, since a dry run creates no run. */
const NO_RUN = "dry-run";
const SHOWN_LENGTH = 1_000;

/**
 * Renders and plans what `POST /runs` would start, for its first target only. Executes and stores nothing. Throws the
 * errors that `POST /runs` would throw.
 */
export async function dryRun(
  deps: StartDeps & PlanDeps,
  body: StartBody,
): Promise<z.infer<typeof dryRunResponse>> {
  const { plan, targets, request } = await readStart(deps, body);
  const { definition } = plan;
  const target = targets[0] ?? "";
  const workspace = workspaceName(
    request.workspace || request.params["space_name"] || target || definition.name,
  );
  const builtins = builtinValues({
    ...request,
    target,
    workspace,
    workspacesDir: deps.workspacesDir,
    installation: deps.installation,
    definition,
    runId: NO_RUN,
    number: 0,
    random: NO_RUN,
    now: new Date(deps.clock.now()).toISOString(),
  });
  const { values, params, problem } = paramValues(definition.params, builtins, {
    params: request.params,
    target,
    now: deps.clock.now(),
    undefinedNames: deps.undefinedNames === "fail" ? "fail" : definition.undefined,
  });
  if (problem !== undefined) throw new ApiError("bad_request", `params: ${problem}`);
  const program = buildProgram(
    plan.modules,
    plan.definitions,
    definition.kind === "flow" ? { definition, params: request.params } : undefined,
  );
  const planned = new PlannedSteps(deps, workspace);
  for (const [index, module] of program.modules.entries()) {
    const inFlow =
      definition.kind === "flow" ? definition.modules.find(({ name }) => name === module.name) : undefined;
    const own = plan.definitions[index]?.kind === "module" ? plan.definitions[index] : undefined;
    await planned.addModule(module, inFlow, own?.params ?? [], {
      values,
      params: request.params,
      target,
      now: deps.clock.now(),
    });
  }
  const shown = (all: Readonly<Record<string, unknown>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(all).map(([name, value]) => [
        name,
        deps.secrets.redact(String(value)).slice(0, SHOWN_LENGTH),
      ]),
    );
  return {
    message: "Dry run: nothing was executed",
    dry_run: true,
    workflow: definition.name,
    kind: definition.kind,
    target,
    targets: [...targets],
    target_count: targets.length,
    priority: request.priority ?? "normal",
    workspace,
    params: shown(params),
    builtins: shown(builtins),
    steps: planned.steps,
  };
}
