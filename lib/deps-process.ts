import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { accessToken, TOKEN_FILE } from "./access-token.ts";
import type { Deps, OpenedDeps } from "./deps.ts";
import { composeDeps } from "./deps-compose.ts";
import { withScripts } from "./deps-scripts.ts";
import { hashToken, ownerAuthenticator } from "./http/auth.ts";
import { converterProcess } from "./platform/embedded/converter/client.ts";
import { folderMailer } from "./platform/embedded/mail-folder.ts";
import { type Runner, startRunner } from "./platform/embedded/runner/client.ts";
import { type FileSecrets, fileSecrets } from "./platform/embedded/secrets.ts";
import { storageHealth } from "./platform/embedded/storage-health.ts";
import { PlatformFault } from "./platform/faults.ts";
import type { Log } from "./platform/log.ts";
import type { Ports } from "./platform/ports.ts";
import { PRODUCT_VERSION } from "./platform/product-version.ts";
import type { Resources } from "./platform/resources.ts";
import type { StorageHealth } from "./platform/storage-health.ts";
import type { Config } from "./settings/config.ts";
import { llmKeys } from "./settings/llm.ts";
import { releaseOf } from "./upgrades/releases.ts";
import { upgradeData } from "./upgrades/upgrade.ts";
import { firstStart } from "./workflows/event-receiver/receiver.ts";
import { baseFolders, functionBaseFolders, makeBaseFolders } from "./workflows/installation/installation.ts";
import { FIRST_START_KEY, serviceTable } from "./workflows/installation/table.ts";
import { openRemote } from "./workflows/remote/open.ts";
import { remoteSettings } from "./workflows/remote/settings.ts";
import { isRunOver } from "./workflows/runs/over.ts";
import type { StepPaths } from "./workflows/steps/context.ts";
import { flushLogs } from "./workflows/steps/run-log.ts";
import { openWorkflowFolder, type WorkflowFolder } from "./workflows/uploads/workflow-folder.ts";
import type { WorkspaceSync } from "./workflows/workspaces/sync.ts";

export interface ProcessOptions {
  readonly dataDir: string;
  readonly resources: Resources;
  readonly config: Config;
  readonly log: Log;
}

/** Keeps the workspaces of a data folder the same as those of other machines. */
export type ShareWorkspaces = (ports: Ports, dataDir: string) => WorkspaceSync;

/** Where steps work in a data folder. */
export const stepPaths = (dataDir: string, functionFolders: readonly string[] = []): StepPaths => ({
  workspacesDir: join(dataDir, "workspaces"),
  logsDir: join(dataDir, "runs"),
  snapshotsDir: join(dataDir, "snapshots-unfinished"),
  functionFolders: [tmpdir(), ...functionBaseFolders(dataDir), ...functionFolders],
});

/** The functions that scripts of steps may call on this machine. */
export const STEP_FUNCTIONS = new URL("./workflows/script-library/library.ts", import.meta.url);

/** What this machine gives to a platform: processes of steps, and secrets from the data folder. */
export interface ProcessParts {
  /** Absolute. */
  readonly dataDir: string;
  readonly runner: Runner;
  readonly secrets: FileSecrets;
  readonly storage: StorageHealth;
}

interface OpenedPlatform {
  readonly ports: Ports;
  close(): Promise<void>;
}

/**
 * Opens a server's dependencies over a platform: runner, secrets, token, workspaces and the workflow folder
 * are those of this machine, whatever the platform is. Closes what it has opened when it cannot go on.
 */
export async function openProcessDeps<Platform extends OpenedPlatform>(
  options: ProcessOptions & {
    readonly shareWorkspaces?: ShareWorkspaces;
    /** Opens what needs the workflows to be loaded. */
    readonly openLast?: (deps: Deps) => Promise<{ close(): Promise<void> } | undefined>;
  },
  openPlatform: (parts: ProcessParts) => Promise<Platform>,
): Promise<OpenedDeps & { readonly platform: Platform }> {
  const { log, config, resources } = options;
  const dataDir = resolve(options.dataDir);
  // First of all: steps are to find nothing in this process's environment, and what ends them is to outlive it.
  const runner = await startRunner({
    log,
    functionsModule: STEP_FUNCTIONS,
  });
  const converter = converterProcess({ log });
  let platform: Platform | undefined;
  try {
    const secrets = fileSecrets(dataDir);
    const storage = storageHealth(dataDir, log);
    const opened = await openPlatform({ dataDir, runner, secrets, storage });
    platform = opened;
    const paths = stepPaths(dataDir, config.functionFolders);
    // What a process left that was killed.
    await rm(paths.snapshotsDir, { recursive: true, force: true });
    // The data folder is one process's own, a stack's tables are not.
    const alone = options.shareWorkspaces === undefined;
    await upgradeData(opened.ports, { release: releaseOf(PRODUCT_VERSION), alone });
    const token = await accessToken(dataDir, config.accessToken);
    secrets.alsoRedact(token.value);
    for (const key of [...llmKeys(config.llm), ...config.documents.secrets]) secrets.alsoRedact(key);
    if (config.mail.smtp?.password !== undefined) secrets.alsoRedact(config.mail.smtp.password);
    const settings = remoteSettings(config.remote, dataDir);
    const isOver = (runId: string) => isRunOver(opened.ports, runId);
    const remote = openRemote({ settings, dataDir, log, isOver });
    let isStarted = false;
    const composed = composeDeps(opened.ports, config, {
      isStarted: () => isStarted,
      ...{ remote, converter },
      auth: ownerAuthenticator(hashToken(token.value)),
      storage,
      paths,
      queueNames: resources.queues.map(({ name }) => name),
      sharesWorkspaces: options.shareWorkspaces !== undefined,
      layMails: (from) => folderMailer(join(dataDir, "mail"), from),
      ...(options.shareWorkspaces === undefined
        ? {}
        : { workspaceSync: options.shareWorkspaces(opened.ports, dataDir) }),
    });
    const deps = withScripts(composed);
    await firstStart(deps);
    let folder: WorkflowFolder | undefined;
    let last: { close(): Promise<void> } | undefined;
    return {
      deps,
      ports: opened.ports,
      platform: opened,
      tokenSource: token.source,
      tokenPath: join(dataDir, TOKEN_FILE),
      isUp: async () => {
        if ((await storage.check()) !== undefined) return false;
        return opened.ports.tables.get(serviceTable, FIRST_START_KEY).then(
          () => true,
          (error: unknown) => !(error instanceof PlatformFault && error.code === "unavailable"),
        );
      },
      start: async () => {
        await makeBaseFolders(dataDir);
        folder = await openWorkflowFolder(deps, baseFolders(dataDir).Workflows);
        last = await options.openLast?.(deps);
        isStarted = true;
      },
      close: async () => {
        await last?.close();
        await folder?.close();
        await remote.close();
        await converter.close();
        await opened.close();
        await flushLogs(dataDir);
        await runner.close();
      },
    };
  } catch (error) {
    await platform?.close();
    await runner.close();
    throw error;
  }
}
