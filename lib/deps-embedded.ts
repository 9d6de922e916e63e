import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { accessToken, TOKEN_FILE } from "./access-token.ts";
import type { OpenedDeps } from "./deps.ts";
import { composeDeps } from "./deps-compose.ts";
import { hashToken, ownerAuthenticator } from "./http/auth.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import type { Config } from "./platform/config.ts";
import type { HostileOptions } from "./platform/embedded/hostile.ts";
import { openEmbedded } from "./platform/embedded/platform.ts";
import { startRunner } from "./platform/embedded/runner/client.ts";
import { fileSecrets } from "./platform/embedded/secrets.ts";
import type { Log } from "./platform/log.ts";
import type { Resources } from "./platform/resources.ts";
import { openWorkflowFolder, type WorkflowFolder } from "./workflow/definitions/folder.ts";
import { firstStart } from "./workflow/event-receiver/receiver.ts";

export interface EmbeddedDepsOptions {
  readonly dataDir: string;
  readonly resources: Resources;
  readonly config: Config;
  readonly log: Log;
  readonly schedulerEnabled: boolean;
  readonly clock?: Clock;
  readonly hostile?: HostileOptions;
}

export interface EmbeddedDeps extends OpenedDeps {
  /** Serves what is due by the clock now. For tests that move the clock. */
  poke(): Promise<void>;
}

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
