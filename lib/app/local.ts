import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { accessToken, TOKEN_FILE } from "../access-token.ts";
import { isUploadAllowed } from "../documents/content/upload-urls.ts";
import { hashToken, ownerAuthenticator } from "../http/auth.ts";
import { folderMailer } from "../mail/mail-folder.ts";
import { openAws } from "../platform/aws/open.ts";
import type { UploadReceiver } from "../platform/blobs.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { makeDataFolder } from "../platform/data-folder.ts";
import { converters } from "../platform/embedded/converter/client.ts";
import type { HostileOptions } from "../platform/embedded/hostile.ts";
import { openEmbedded } from "../platform/embedded/platform.ts";
import { rendererProcess } from "../platform/embedded/renderer/client.ts";
import { type Runner, startRunner } from "../platform/embedded/runner/client.ts";
import { type FileSecrets, fileSecrets } from "../platform/embedded/secrets.ts";
import { storageHealth } from "../platform/embedded/storage-health.ts";
import { PlatformFault } from "../platform/faults.ts";
import type { Log } from "../platform/log.ts";
import type { Ports } from "../platform/ports.ts";
import type { Resources } from "../platform/resources.ts";
import type { StorageHealth } from "../platform/storage-health.ts";
import { PRODUCT_VERSION } from "../product-version.ts";
import type { Config } from "../settings/config.ts";
import { llmKeys } from "../settings/llm.ts";
import { releaseOf } from "../upgrades/releases.ts";
import { upgradeData } from "../upgrades/upgrade.ts";
import { isSelfContained } from "../workflows/evaluation/self-contained-scripts.ts";
import { firstStart } from "../workflows/event-receiver/receiver.ts";
import { baseFolders, makeBaseFolders } from "../workflows/installation/installation.ts";
import { FIRST_START_KEY, serviceTable } from "../workflows/installation/table.ts";
import { openRemote } from "../workflows/remote/open.ts";
import { remoteSettings } from "../workflows/remote/settings.ts";
import { conduct } from "../workflows/runs/conduct.ts";
import { forgetKeptRuns } from "../workflows/runs/kept-runs.ts";
import { isRunFinished } from "../workflows/runs/status-transitions.ts";
import type { HandleScriptCall, Snapshots } from "../workflows/steps/context.ts";
import type { ConductHere } from "../workflows/steps/messages.ts";
import { flushLogs } from "../workflows/steps/run-log.ts";
import { fireTriggers } from "../workflows/triggers/fire-triggers.ts";
import { openWorkflowFolder, type WorkflowFolder } from "../workflows/uploads/workflow-folder.ts";
import { openWatches } from "../workflows/watches/open-watches.ts";
import type { WorkspaceSync } from "../workflows/workspaces/sync.ts";
import { composeDocumentDeps, type Deps, type DocumentDeps, documentCallHandler } from "./compose.ts";
import { openWorkspaceSync, SCRIPT_LIBRARY, stepPaths } from "./worker.ts";

export interface LocalOptions {
  readonly dataDir: string;
  readonly resources: Resources;
  readonly config: Config;
  readonly log: Log;
}

export interface EmbeddedOptions extends LocalOptions {
  readonly schedulerEnabled: boolean;
  readonly clock?: Clock;
  readonly hostile?: HostileOptions;
}

export interface AwsServerOptions extends LocalOptions {
  readonly stack: string;
}

/** The application of a server on one machine, over either platform. */
export interface LocalApp {
  readonly deps: DocumentDeps;
  readonly ports: Ports;
  /** For the collaboration server. */
  readonly collaboration: DocumentDeps;
  readonly tokenSource: "environment" | "file";
  readonly tokenPath: string;
  /** Whether the tables respond: nothing works without them. */
  isUp(): Promise<boolean>;
  /** Receives uploads through the gateway, if the blob store has no URLs of its own. */
  readonly uploads?: UploadReceiver;
  /** Resolves when everything written is on disk, if writes resolve earlier. */
  durable?(): Promise<void>;
  /** Ends requests that wait for updates of documents and streams of events, because the server stops. */
  stopWaiting(): void;
  /** Frees caches, for an idle server. */
  releaseMemory?(): Promise<void>;
  /** Reads and watches the workflow folder. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface EmbeddedApp extends LocalApp {
  /** Fires timers and schedules that are due now. For tests that move the clock. */
  poke(): Promise<void>;
}

/** Opens the application over the embedded platform, in a data folder. */
export async function openEmbeddedApp(options: EmbeddedOptions): Promise<EmbeddedApp> {
  const { log, clock = systemClock, resources, hostile, schedulerEnabled } = options;
  const openWatchTriggers = async (deps: Deps) => (schedulerEnabled ? openWatches(deps) : undefined);
  const { platform, ...app } = await openApp(
    { ...options, openWatchTriggers },
    ({ dataDir, runner, secrets, storage }) =>
      openEmbedded({
        dataDir,
        resources: schedulerEnabled ? resources : withoutFireSchedules(resources),
        clock,
        log,
        commands: runner.commands,
        scripts: runner.scripts,
        secrets,
        storage,
        ...(hostile === undefined ? {} : { hostile }),
      }),
  );
  return {
    ...app,
    uploads: {
      find: (path) => platform.uploads.find(path),
      isAllowed: (upload) => isUploadAllowed(app.deps, upload),
    },
    poke: () => platform.poke(),
    durable: () => platform.durable(),
    releaseMemory: () => {
      forgetKeptRuns(app.deps);
      return platform.releaseMemory();
    },
  };
}

/** Removes the schedule that fires triggers; the sweeps stay. */
function withoutFireSchedules(resources: Resources): Resources {
  return { ...resources, schedules: resources.schedules.filter(({ queues }) => !queues.includes("fire")) };
}

/**
 * Opens the application over AWS's services or over an emulator at `AWS_ENDPOINT_URL`: tables, queues, bus and blobs are
 * there; workspaces, secrets and the processes of steps are on this machine.
 */
export async function openAwsApp(options: AwsServerOptions): Promise<LocalApp> {
  const { log, resources, stack } = options;
  const { platform: _, ...app } = await openApp(
    { ...options, shareWorkspaces: openWorkspaceSync },
    async ({ dataDir, runner: { commands, scripts }, secrets }) => {
      makeDataFolder(dataDir);
      return openAws({ stack, resources, log, commands, scripts, secrets });
    },
  );
  return app;
}

/** What this machine contributes to a platform. */
interface MachineParts {
  /** Absolute. */
  readonly dataDir: string;
  readonly runner: Runner;
  readonly secrets: FileSecrets;
  readonly storage: StorageHealth;
}

interface OpenedPlatform {
  readonly ports: Ports;
  durable?(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the application over a platform. The runner, secrets, token, workspaces and workflow folder are on this machine
 * with every platform. After a failure everything that was opened is closed.
 */
async function openApp<Platform extends OpenedPlatform>(
  options: LocalOptions & {
    /** Keeps workspaces in sync with other machines. */
    readonly shareWorkspaces?: (ports: Ports, dataDir: string) => WorkspaceSync;
    /** Called when the workflows are loaded. */
    readonly openWatchTriggers?: (deps: Deps) => Promise<{ close(): Promise<void> } | undefined>;
  },
  openPlatform: (parts: MachineParts) => Promise<Platform>,
): Promise<LocalApp & { readonly platform: Platform }> {
  const { log, config, resources, shareWorkspaces } = options;
  const dataDir = resolve(options.dataDir);
  // The runner starts first: steps must not inherit this process's environment, and what stops them must outlive it.
  const runner = await startRunner({
    log,
    functionsModule: SCRIPT_LIBRARY,
    isSelfContained,
  });
  const converter = converters({ log, withEditorWriters: !config.documents.publishAsMit });
  const renderer = rendererProcess({ log });
  let platform: Platform | undefined;
  try {
    const secrets = fileSecrets(dataDir);
    const storage = storageHealth(dataDir, log);
    const opened = await openPlatform({ dataDir, runner, secrets, storage });
    platform = opened;
    const { ports } = opened;
    const paths = stepPaths(dataDir, config.functionFolders);
    // A killed process may have left unfinished snapshots.
    await rm(paths.snapshotsDir, { recursive: true, force: true });
    // A data folder has one process, the tables of a stack have several.
    await upgradeData(ports, {
      release: releaseOf(PRODUCT_VERSION),
      isExclusive: shareWorkspaces === undefined,
    });
    const token = await accessToken(dataDir, config.accessToken);
    secrets.alsoRedact(token.value);
    for (const key of [...llmKeys(config.llm), ...config.documents.secrets]) secrets.alsoRedact(key);
    if (config.mail.smtp?.password !== undefined) secrets.alsoRedact(config.mail.smtp.password);
    const settings = remoteSettings(config.remote, dataDir);
    const remote = openRemote({ settings, dataDir, log, isOver: (runId) => isRunFinished(ports, runId) });
    let isStarted = false;
    const deps = withOwnCalls(
      composeDocumentDeps(ports, config, {
        isStarted: () => isStarted,
        remote,
        converter,
        renderer,
        auth: ownerAuthenticator(hashToken(token.value)),
        storage,
        paths,
        durable: async () => opened.durable?.(),
        fireTriggers,
        queueNames: resources.queues.map(({ name }) => name),
        sharesWorkspaces: shareWorkspaces !== undefined,
        layMails: (from) => folderMailer(join(dataDir, "mail"), from),
        ...(shareWorkspaces === undefined ? {} : { workspaceSync: shareWorkspaces(ports, dataDir) }),
      }),
    );
    await firstStart(deps);
    let folder: WorkflowFolder | undefined;
    let watches: { close(): Promise<void> } | undefined;
    return {
      deps,
      ports,
      collaboration: deps,
      platform: opened,
      tokenSource: token.source,
      tokenPath: join(dataDir, TOKEN_FILE),
      stopWaiting: () => {
        deps.liveRequests.stop();
        deps.eventStreams.stop();
      },
      isUp: async () => {
        if ((await storage.check()) !== undefined) return false;
        return ports.tables.get(serviceTable, FIRST_START_KEY).then(
          () => true,
          (error: unknown) => !(error instanceof PlatformFault && error.code === "unavailable"),
        );
      },
      start: async () => {
        await makeBaseFolders(dataDir);
        folder = await openWorkflowFolder(deps, baseFolders(dataDir).Workflows);
        watches = await options.openWatchTriggers?.(deps);
        isStarted = true;
      },
      close: async () => {
        await watches?.close();
        await folder?.close();
        await remote.close();
        await converter.close();
        await renderer.close();
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

/** What steps of a process with the tables and the workspaces need not send to another one. */
export interface OwnCalls {
  readonly handleScriptCall: HandleScriptCall;
  readonly conductHere?: ConductHere;
  readonly snapshots: Snapshots;
}

/**
 * Adds the handlers of script calls and, if the platform commits writes and messages together, of the messages of steps:
 * a process with the tables and the workspaces handles them directly.
 */
export function withOwnCalls(deps: DocumentDeps): DocumentDeps & OwnCalls {
  return {
    ...deps,
    ...(deps.outbox.atomic === true
      ? {
          conductHere: async (message) => {
            await conduct(deps, message);
          },
        }
      : {}),
    handleScriptCall: async (runId, query) => {
      const { handleScriptCall } = await import("../workflows/script-api/handle-script-call.ts");
      return handleScriptCall({ ...deps, handleDocumentCall: documentCallHandler(deps) }, runId, query);
    },
    snapshots: {
      export: async (workspace) =>
        (await import("../workflows/snapshots/export.ts")).exportSnapshot(deps, workspace),
      import: async (archive, { workspace, cause }) => {
        const { importSnapshot } = await import("../workflows/snapshots/import.ts");
        const options = {
          archive,
          workspace: undefined,
          force: true,
          filesOnly: false,
          spare: workspace,
          cause,
        };
        return (await importSnapshot(deps, options)).workspace;
      },
    },
  };
}
