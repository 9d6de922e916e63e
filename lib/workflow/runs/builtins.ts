import { join } from "node:path";
import type { Definition } from "../definition/types.ts";

/** The variables that every run has: those of today's users that need nothing outside this installation. */
export function builtinValues(run: {
  readonly runId: string;
  readonly target: string;
  readonly workspace: string;
  readonly workspacesDir: string;
  readonly definition: Definition;
  readonly triggerType: string;
  readonly now: string;
}): Record<string, unknown> {
  const now = new Date(run.now);
  const output = join(run.workspacesDir, run.workspace);
  return {
    Target: run.target,
    target: run.target,
    TargetSpace: run.workspace,
    Workspace: run.workspace,
    Workspaces: run.workspacesDir,
    Output: output,
    RunUUID: run.runId,
    RunID: run.runId,
    ModuleName: run.definition.name,
    FlowName: run.definition.kind === "flow" ? run.definition.name : "",
    WorkflowName: run.definition.name,
    TaskDate: run.now.slice(0, 10),
    Today: run.now.slice(0, 10),
    TimeStamp: String(Math.floor(now.getTime() / 1000)),
    CurrentTime: run.now,
    PlatformOS: process.platform,
    PlatformArch: process.arch,
  };
}

/** Names of them. */
export const BUILTIN_NAMES: readonly string[] = Object.keys(
  builtinValues({
    ...{
      runId: "",
      target: "",
      workspace: "",
      workspacesDir: "",
      triggerType: "",
      now: new Date(0).toISOString(),
    },
    definition: {
      ...{ name: "", kind: "module", description: "", tags: [], hidden: false },
      ...{ params: [], triggers: [], steps: [], modules: [] },
    },
  }),
);
