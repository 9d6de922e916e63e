import { join } from "node:path";
import { baseFolders, type Installation } from "../installation/installation.ts";
import type { Definition } from "../schema/types.ts";
import { emptyTargetValues, targetValues } from "./target-values.ts";

/** Default of `{{threads}}`: the number of steps that a workflow should run concurrently. Reference 2.9. */
const THREADS = 10;
/** In the workspace of a run, separate from its files, so that a step may empty it. */
export const TEMP_FOLDER = ".tmp";

/** Returns the built-in variables of a run. Reference 2.9. */
export function builtinValues(run: {
  readonly runId: string;
  readonly number: number;
  readonly target: string;
  readonly targetFile?: string;
  readonly workspace: string;
  readonly workspacesDir: string;
  readonly definition: Definition;
  readonly triggerType: string;
  readonly installation: Installation;
  readonly now: string;
  /** A random UUID. */
  readonly random: string;
  readonly heuristics?: string;
  readonly threads?: number;
}): Record<string, unknown> {
  const now = new Date(run.now);
  const output = join(run.workspacesDir, run.workspace);
  const tempDir = join(output, TEMP_FOLDER);
  const threads = run.threads ?? THREADS;
  const { hooks } = run.definition;
  const hookCount = (hooks?.pre_scan_steps ?? []).length + (hooks?.post_scan_steps ?? []).length;
  const heuristics = run.heuristics ?? run.definition.preferences?.heuristics_check ?? "basic";
  return {
    ...(heuristics === "none" ? emptyTargetValues(run.target) : targetValues(run.target)),
    Target: run.target,
    target: run.target,
    TargetFile: run.targetFile ?? "",
    TargetSpace: run.workspace,
    Workspace: run.workspace,
    Workspaces: run.workspacesDir,
    HeuristicsCheck: heuristics,
    Output: output,
    BaseFolder: run.installation.baseDir,
    ...baseFolders(run.installation.baseDir),
    TempDir: tempDir,
    TempFile: join(tempDir, `tmp-${run.random.slice(0, 8)}`),
    StateExecutionLog: join(output, "run-execution.log"),
    StateConsoleLog: join(output, "run-console.log"),
    StateCompletedFile: join(output, "run-completed.json"),
    StateFile: join(output, "run-state.json"),
    StateWorkflowFile: join(output, "run-workflow.yaml"),
    StateWorkflowFolder: join(output, "run-modules"),
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
    Version: run.installation.version,
    HooksEnabled: hookCount > 0,
    threads: String(threads),
    baseThreads: String(Math.max(1, Math.floor(threads / 2))),
    PlatformOS: process.platform,
    PlatformArch: process.arch,
    PlatformInDocker: run.installation.inDocker,
    PlatformInKubernetes: run.installation.inKubernetes,
    PlatformCloudProvider: run.installation.cloudProvider,
    // A run has one target, which is its only chunk.
    ChunkIndex: "0",
    ChunkSize: "1",
    TotalChunks: "1",
    ChunkStart: "0",
    ChunkEnd: "1",
  };
}

/** Names of the built-in variables. */
export const BUILTIN_NAMES: readonly string[] = Object.keys(
  builtinValues({
    runId: "",
    number: 0,
    random: "",
    target: "",
    workspace: "",
    workspacesDir: "",
    triggerType: "",
    now: new Date(0).toISOString(),
    installation: { baseDir: "", version: "", inDocker: false, inKubernetes: false, cloudProvider: "" },
    definition: {
      name: "",
      kind: "module",
      description: "",
      tags: [],
      hidden: false,
      params: [],
      triggers: [],
      steps: [],
      modules: [],
    },
  }),
);
