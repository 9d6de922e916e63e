import { join } from "node:path";
import type { Definition } from "../definition/types.ts";
import { noFacts, targetFacts } from "./target-facts.ts";

/** Steps at once that a workflow is to aim at, where the run does not say. Reference 2.9. */
const THREADS = 10;

/** The variables that every run has: those of today's users that need nothing outside this installation. Reference 2.9. */
export function builtinValues(run: {
  readonly runId: string;
  readonly number: number;
  readonly target: string;
  readonly targetFile?: string;
  readonly workspace: string;
  readonly workspacesDir: string;
  readonly definition: Definition;
  readonly triggerType: string;
  readonly now: string;
  /** A UUID of no meaning. */
  readonly random: string;
  readonly heuristics?: string;
  readonly threads?: number;
}): Record<string, unknown> {
  const now = new Date(run.now);
  const output = join(run.workspacesDir, run.workspace);
  const threads = run.threads ?? THREADS;
  const heuristics = run.heuristics ?? run.definition.preferences?.heuristics_check ?? "basic";
  return {
    ...(heuristics === "none" ? noFacts(run.target) : targetFacts(run.target)),
    Target: run.target,
    target: run.target,
    TargetFile: run.targetFile ?? "",
    TargetSpace: run.workspace,
    Workspace: run.workspace,
    Workspaces: run.workspacesDir,
    HeuristicsCheck: heuristics,
    Output: output,
    TempDir: output,
    TempFile: join(output, `tmp-${run.random.slice(0, 8)}`),
    RunUUID: run.runId,
    RunID: run.runId,
    DBRunID: String(run.number),
    ModuleName: run.definition.name,
    FlowName: run.definition.kind === "flow" ? run.definition.name : "",
    WorkflowName: run.definition.name,
    TaskDate: run.now.slice(0, 10),
    Today: run.now.slice(0, 10),
    TimeStamp: String(Math.floor(now.getTime() / 1000)),
    CurrentTime: run.now,
    RandomString: run.random.slice(-6),
    threads: String(threads),
    baseThreads: String(Math.max(1, Math.floor(threads / 2))),
    PlatformOS: process.platform,
    PlatformArch: process.arch,
  };
}

/** Names of them. */
export const BUILTIN_NAMES: readonly string[] = Object.keys(
  builtinValues({
    ...{
      runId: "",
      number: 0,
      random: "",
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
