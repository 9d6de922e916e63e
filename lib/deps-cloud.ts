import { join, resolve } from "node:path";
import type { OpenedDeps } from "./deps.ts";
import { findShell } from "./deps-compose.ts";
import {
  openProcessDeps,
  type ProcessOptions,
  type ShareWorkspaces,
  STEP_FUNCTIONS,
  stepPaths,
} from "./deps-process.ts";
import type { ConsumerDeps } from "./events/consumer.ts";
import { openNetwork } from "./network/network.ts";
import type { Environment } from "./platform/aws/clients.ts";
import { parameterStore } from "./platform/aws/parameters.ts";
import { openAws } from "./platform/aws/platform.ts";
import { storedSecrets } from "./platform/aws/secrets.ts";
import { systemClock } from "./platform/clock.ts";
import { makeDataFolder } from "./platform/data-folder.ts";
import { lockDataFolder } from "./platform/embedded/lock.ts";
import { type Runner, startRunner } from "./platform/embedded/runner/client.ts";
import { fileSecrets } from "./platform/embedded/secrets.ts";
import type { Queues } from "./platform/queues.ts";
import { readConfig } from "./settings/config.ts";
import { llmKeys } from "./settings/llm.ts";
import { makeBaseFolders } from "./workflows/installation/installation.ts";
import { openRemote } from "./workflows/remote/open.ts";
import { remoteSettings } from "./workflows/remote/settings.ts";
import { noteStepFailure } from "./workflows/steps/consumer.ts";
import type { StepDeps } from "./workflows/steps/context.ts";
import { overMark } from "./workflows/steps/messages.ts";
import { flushLogs } from "./workflows/steps/run-log.ts";
import { workspaceSync } from "./workflows/workspaces/sync.ts";

/** A worker learns only of runs that end under a step: its persistent containers go when nobody used them so long. */
const CONTAINER_IDLE_MS = 60 * 60_000;

export interface CloudDepsOptions extends ProcessOptions {
  readonly stack: string;
}

const shareWorkspaces: ShareWorkspaces = (ports, dataDir) =>
  workspaceSync(ports, {
    workspacesDir: stepPaths(dataDir).workspacesDir,
    statesDir: join(dataDir, "workspace-states"),
  });

/**
 * Opens this process over AWS's services, or over what stands at `AWS_ENDPOINT_URL`: tables, queues, bus and
 * blobs there, workspaces, secrets and the processes of steps here.
 */
export async function openCloudDeps(options: CloudDepsOptions): Promise<OpenedDeps> {
  const { log, resources, stack } = options;
  const { platform: _platform, ...opened } = await openProcessDeps(
    { ...options, shareWorkspaces },
    async ({ dataDir, runner, secrets }) => {
      makeDataFolder(dataDir);
      const { commands, scripts } = runner;
      return openAws({ stack, resources, log, commands, scripts, secrets });
    },
  );
  return opened;
}

export interface WorkerDepsOptions extends Omit<CloudDepsOptions, "config"> {
  /** Endpoints, region, credentials, bucket; `WEFT_SECRETS_PATH` where secrets are in the parameter store. */
  readonly environment: Environment;
}

export interface WorkerDeps {
  /** No tables: a worker has its queues and the blob store. */
  readonly deps: StepDeps & ConsumerDeps;
  readonly queues: Queues;
  close(): Promise<void>;
}

/**
 * Opens a worker on a data folder of its own: it executes steps that touch files, for the stack that the
 * environment names. Throws DataFolderInUse.
 */
export async function openWorkerDeps(options: WorkerDepsOptions): Promise<WorkerDeps> {
  const { log, resources, stack, environment } = options;
  const dataDir = resolve(options.dataDir);
  const config = readConfig({ ...environment, WEFT_PLATFORM: "aws" });
  await makeBaseFolders(dataDir);
  const lock = lockDataFolder(dataDir);
  let runner: Runner | undefined;
  try {
    const started = await startRunner({ log, functionsModule: STEP_FUNCTIONS });
    runner = started;
    const { commands, scripts } = runner;
    const path = environment.WEFT_SECRETS_PATH || undefined;
    const secrets =
      path === undefined
        ? fileSecrets(dataDir)
        : storedSecrets({ client: parameterStore(environment), path, clock: systemClock });
    for (const key of llmKeys(config.llm)) secrets.alsoRedact(key);
    const aws = await openAws({ stack, resources, log, environment, commands, scripts, secrets });
    const { ports } = aws;
    const settings = remoteSettings(readConfig({ ...environment, WEFT_PLATFORM: "aws" }).remote, dataDir);
    const isOver = (runId: string) => ports.claims.isTaken(overMark(runId));
    const remote = openRemote({ settings, dataDir, log, isOver, idleMs: CONTAINER_IDLE_MS });
    const deps: StepDeps = {
      ...ports,
      remote,
      paths: stepPaths(dataDir, config.functionFolders),
      workspaceSync: shareWorkspaces(ports, dataDir),
      shell: findShell(log),
      network: openNetwork(config.network),
      llm: config.llm,
    };
    return {
      deps: { ...deps, noteLastFailure: (failure) => noteStepFailure(deps, failure) },
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
