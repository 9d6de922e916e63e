import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { LastFailure } from "./events/consumer.ts";
import { EVENT_INDEX } from "./events/log/table.ts";
import type { EventEffects, Matcher } from "./events/publish.ts";
import { type Authenticator, hashToken, ownerAuthenticator } from "./http/auth.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import type { Config } from "./platform/config.ts";
import type { HostileOptions } from "./platform/embedded/hostile.ts";
import { openEmbedded } from "./platform/embedded/platform.ts";
import { startRunner } from "./platform/embedded/runner/client.ts";
import { fileSecrets } from "./platform/embedded/secrets.ts";
import type { Log } from "./platform/log.ts";
import type { Ports } from "./platform/ports.ts";
import type { Resources } from "./platform/resources.ts";
import { RankedIndex } from "./ranked-index/ranked-index.ts";
import { assetEffects } from "./workflow/assets/upsert.ts";
import { noteLastFailure } from "./workflow/dead-letters/letters.ts";
import { openWorkflowFolder, type WorkflowFolder } from "./workflow/definitions/folder.ts";
import { cachedDefinitions, type Definitions } from "./workflow/definitions/store.ts";
import { firstStart } from "./workflow/event-receiver/receiver.ts";
import { type Numbers, numbers } from "./workflow/runs/numbers.ts";
import type { StepPaths } from "./workflow/steps/context.ts";
import { type CatalogReader, catalogReader, triggerMatcher } from "./workflow/triggers/matcher.ts";

/** Everything that a function may ask for. Services name the part that they use. */
export interface Deps extends Ports {
  readonly auth: Authenticator;
  readonly catalog: CatalogReader;
  readonly definitions: Definitions;
  /** Over the event log; one for all readers and the writer of this process. */
  readonly eventIndex: RankedIndex;
  readonly matcher: Matcher;
  readonly effects: EventEffects;
  readonly runNumbers: Numbers;
  readonly assetNumbers: Numbers;
  readonly paths: StepPaths;
  readonly workspacesDir: string;
  readonly shell: string;
  readonly receiverEnabled: boolean;
  /** Queues of the template, for the readiness check. */
  readonly queueNames: readonly string[];
  noteLastFailure(failure: LastFailure): Promise<void>;
}

export interface EmbeddedDepsOptions {
  readonly dataDir: string;
  readonly resources: Resources;
  readonly config: Config;
  readonly log: Log;
  readonly schedulerEnabled: boolean;
  readonly clock?: Clock;
  readonly hostile?: HostileOptions;
}

/** Dependencies opened for a process of its own, whatever platform is below. */
export interface OpenedDeps {
  readonly deps: Deps;
  readonly ports: Ports;
  readonly tokenSource: "environment" | "file";
  readonly tokenPath: string;
  /** Reads and watches the workflow folder. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface EmbeddedDeps extends OpenedDeps {
  /** Serves what is due by the clock now. For tests that move the clock. */
  poke(): Promise<void>;
}

/** In the data folder. */
export const TOKEN_FILE = "access-token";
const TOKEN_BYTES = 32;

/** Opens the embedded platform on a data folder and puts the services together over it. */
export async function openEmbeddedDeps(options: EmbeddedDepsOptions): Promise<EmbeddedDeps> {
  const { log, clock = systemClock, config } = options;
  const dataDir = resolve(options.dataDir);
  // Before anything large is in memory: processes of steps are started by it, cheaply.
  const runner = await startRunner({
    log,
    functionsModule: new URL("./workflow/functions/library.ts", import.meta.url),
  });
  try {
    const secrets = fileSecrets(dataDir);
    const platform = await openEmbedded({
      dataDir,
      resources: options.schedulerEnabled ? options.resources : withoutFires(options.resources),
      clock,
      log,
      commands: runner.commands,
      scripts: runner.scripts,
      secrets,
      ...(options.hostile === undefined ? {} : { hostile: options.hostile }),
    });
    try {
      const token = await accessToken(dataDir, config.accessToken);
      secrets.alsoRedact(token.value);
      const paths = { workspacesDir: join(dataDir, "workspaces"), logsDir: join(dataDir, "runs") };
      const queueNames = options.resources.queues.map(({ name }) => name);
      const deps = composeDeps(platform.ports, config, {
        auth: ownerAuthenticator(hashToken(token.value)),
        paths,
        queueNames,
      });
      let folder: WorkflowFolder | undefined;
      await firstStart(deps);
      return {
        deps,
        ports: platform.ports,
        tokenSource: token.source,
        tokenPath: join(dataDir, TOKEN_FILE),
        start: async () => {
          const workflows = join(dataDir, "workflows");
          await mkdir(workflows, { recursive: true });
          folder = await openWorkflowFolder(deps, workflows);
        },
        poke: () => platform.poke(),
        close: async () => {
          await folder?.close();
          await platform.close();
          await runner.close();
        },
      };
    } catch (error) {
      await platform.close();
      throw error;
    }
  } catch (error) {
    await runner.close();
    throw error;
  }
}

/** Without the scheduler nothing is fired; the sweeps go on. */
function withoutFires(resources: Resources): Resources {
  return { ...resources, schedules: resources.schedules.filter(({ queues }) => !queues.includes("fire")) };
}

export function composeDeps(
  ports: Ports,
  config: Config,
  own: { auth: Authenticator; paths: StepPaths; queueNames: readonly string[] },
): Deps {
  const catalog = catalogReader(ports);
  const assetNumbers = numbers(ports, "assets");
  const base = {
    ...ports,
    ...own,
    catalog,
    definitions: cachedDefinitions(ports),
    eventIndex: new RankedIndex(ports, EVENT_INDEX),
    matcher: triggerMatcher(catalog, config.receiverEnabled),
    effects: assetEffects({ assetNumbers }),
    runNumbers: numbers(ports, "runs"),
    assetNumbers,
    workspacesDir: own.paths.workspacesDir,
    shell: findShell(ports.log),
    receiverEnabled: config.receiverEnabled,
  };
  return { ...base, noteLastFailure: (failure) => noteLastFailure(base, failure) };
}

function findShell(log: Log): string {
  const folders = (process.env["PATH"] ?? "/usr/bin:/bin").split(":");
  if (folders.some((folder) => folder !== "" && existsSync(join(folder, "bash")))) return "bash";
  log.warn("no bash found: bash steps are run by sh");
  return "sh";
}

/** The owner's token: the environment's, else the one made at the first start, kept in clear for its owner alone. */
export async function accessToken(
  dataDir: string,
  given: string | undefined,
): Promise<{ value: string; source: "environment" | "file" }> {
  if (given !== undefined) return { value: given, source: "environment" };
  const path = join(dataDir, TOKEN_FILE);
  try {
    await writeFile(path, `${randomBytes(TOKEN_BYTES).toString("base64url")}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  }
  if (((await stat(path)).mode & 0o077) !== 0)
    throw new Error(`${TOKEN_FILE} is readable by others: chmod 600 ${path}`);
  const value = (await readFile(path, "utf8")).trim();
  if (value === "") throw new Error(`${TOKEN_FILE} is empty: remove ${path} and start again`);
  return { value, source: "file" };
}

let opened: Promise<Deps> | undefined;

/** The dependencies of a function that runs in Lambda, built once a container. */
export function openDeps(): Promise<Deps> {
  opened ??= Promise.reject(
    new Error("this release runs on the embedded platform only: start it with weft start"),
  );
  return opened;
}
