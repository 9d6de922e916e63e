import type { Definition, FlowModule, Step } from "../definition/types.ts";
import { tolerant } from "./module-steps.ts";

/** Names of modules that hold the hooks of a flow. A slash is in no name that an author gives. */
const BEFORE = "hooks/before";
const AFTER = "hooks/after";

/**
 * The modules of a flow as they are executed: its hooks are modules before and after all others. One that fails is told
 * of, and passed over; those after the others run where these succeeded. Reference 2.1.
 */
export function modulesOf(flow: Definition): readonly FlowModule[] {
  const { modules, hooks } = flow;
  if (hooks === undefined) return modules;
  const known = made.get(flow);
  if (known !== undefined) return known;
  const { pre_scan_steps: before, post_scan_steps: after } = hooks;
  const waiting = modules.map((module) =>
    before.length === 0 || module.depends_on.length > 0 ? module : { ...module, depends_on: [BEFORE] },
  );
  const all = [
    ...holding(BEFORE, before, []),
    ...waiting,
    ...holding(
      AFTER,
      after,
      modules.map(({ name }) => name),
    ),
  ];
  made.set(flow, all);
  return all;
}

const made = new WeakMap<Definition, readonly FlowModule[]>();

function holding(name: string, steps: readonly Step[], depends_on: readonly string[]): FlowModule[] {
  if (steps.length === 0) return [];
  return [{ name, steps: steps.map(tolerant), params: {}, depends_on, on_success: [], on_error: [] }];
}
