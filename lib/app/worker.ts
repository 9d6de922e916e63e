import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Environment, openAws, openParameterStore } from "../platform/aws/open.ts";
import { systemClock } from "../platform/clock.ts";
import { lockDataFolder } from "../platform/embedded/lock.ts";
import { type Runner, startRunner } from "../platform/embedded/runner/client.ts";
import { fileSecrets } from "../platform/embedded/secrets.ts";
import type { Log } from "../platform/log.ts";
import type { Ports } from "../platform/ports.ts";
import type { Queues } from "../platform/queues.ts";
import type { Resources } from "../platform/resources.ts";
import { readConfig } from "../settings/config.ts";
import { llmKeys } from "../settings/llm.ts";
import { isSelfContained } from "../workflows/evaluation/self-contained-scripts.ts";
import { functionBaseFolders, makeBaseFolders } from "../workflows/installation/installation.ts";
import { openRemote } from "../workflows/remote/open.ts";
import { remoteSettings } from "../workflows/remote/settings.ts";
import type { StepPaths } from "../workflows/steps/context.ts";
import { runFinishedKey } from "../workflows/steps/messages.ts";
import { flushLogs } from "../workflows/steps/run-log.ts";
import { type WorkspaceSync, workspaceSync } from "../workflows/workspaces/sync.ts";
import { composeExecutorDeps, type ExecutorDeps } from "./compose.ts";

/** A worker does not see runs end, so it removes persistent containers that were not used for this long. */
const CONTAINER_IDLE_MS = 60 * 60_000;

/** The functions that scripts of steps may call on this machine: the processes of scripts load this module. */
export const SCRIPT_LIBRARY = new URL("../workflows/script-library/library.ts", import.meta.url);

/** Where steps work in a data folder. */
export const stepPaths = (dataDir: string, functionFolders: readonly string[] = []): StepPaths => ({
  workspacesDir: join(dataDir, "workspaces"),
  logsDir: join(dataDir, "runs"),
  snapshotsDir: join(dataDir, "snapshots-unfinished"),
  functionFolders: [tmpdir(), ...functionBaseFolders(dataDir), ...functionFolders],
});

/** Keeps the workspaces of a data folder in sync with other machines, through the blob store. */
export const openWorkspaceSync = (ports: Ports, dataDir: string): WorkspaceSync =>
  workspaceSync(ports, {
    workspacesDir: stepPaths(dataDir).workspacesDir,
    statesDir: join(dataDir, "workspace-states"),
  });

export interface WorkerOptions {
  readonly dataDir: string;
  readonly stack: string;
  readonly resources: Resources;
  readonly log: Log;
  /** Endpoints, region, credentials, bucket; `WEFT_SECRETS_PATH` if the secrets are in the parameter store. */
  readonly environment: Environment;
}

export interface Worker {
  /** Without tables: a worker uses its queues and the blob store. */
  readonly deps: ExecutorDeps;
  readonly queues: Queues;
  close(): Promise<void>;
}

/**
 * Opens a worker on a data folder of its own: it executes steps that use files, for a stack in AWS. Throws
 * DataFolderInUseError.
 */
export async function openWorker(options: WorkerOptions): Promise<Worker> {
  const { log, resources, stack, environment } = options;
  const dataDir = resolve(options.dataDir);
  const config = readConfig({ ...environment, WEFT_PLATFORM: "aws" });
  await makeBaseFolders(dataDir);
  const lock = lockDataFolder(dataDir);
  let runner: Runner | undefined;
  try {
    const started = await startRunner({
      log,
      functionsModule: SCRIPT_LIBRARY,
      isSelfContained,
    });
    runner = started;
    const { commands, scripts } = started;
    const path = environment.WEFT_SECRETS_PATH || undefined;
    const secrets =
      path === undefined
        ? fileSecrets(dataDir)
        : (await openParameterStore(environment)).openSecrets(path, systemClock);
    for (const key of llmKeys(config.llm)) secrets.alsoRedact(key);
    const aws = await openAws({ stack, resources, log, environment, commands, scripts, secrets });
    const { ports } = aws;
    const isOver = (runId: string) => ports.claims.isTaken(runFinishedKey(runId));
    const settings = remoteSettings(config.remote, dataDir);
    const remote = openRemote({ settings, dataDir, log, isOver, idleMs: CONTAINER_IDLE_MS });
    const deps = composeExecutorDeps(ports, config, {
      remote,
      paths: stepPaths(dataDir, config.functionFolders),
      workspaceSync: openWorkspaceSync(ports, dataDir),
    });
    return {
      deps,
      queues: ports.queues,
      close: async () => {
        await remote.close();
        await aws.close();
        await flushLogs(dataDir);
        await started.close();
        lock.release();
      },
    };
  } catch (error) {
    await runner?.close();
    lock.release();
    throw error;
  }
}
