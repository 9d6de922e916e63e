import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { accessToken, TOKEN_FILE } from "./access-token.ts";
import type { OpenedDeps } from "./deps.ts";
import { composeDeps } from "./deps-compose.ts";
import type { EmbeddedDepsOptions } from "./deps-embedded.ts";
import { hashToken, ownerAuthenticator } from "./http/auth.ts";
import { openAws } from "./platform/aws/platform.ts";
import { startRunner } from "./platform/embedded/runner/client.ts";
import { fileSecrets } from "./platform/embedded/secrets.ts";
import { openWorkflowFolder, type WorkflowFolder } from "./workflow/definitions/folder.ts";
import { firstStart } from "./workflow/event-receiver/receiver.ts";

/** Timers that are due are sent so often, milliseconds. */
const TIMERS_SWEPT_EVERY_MS = 60_000;

export type CloudDepsOptions = Omit<EmbeddedDepsOptions, "hostile" | "schedulerEnabled"> & {
  readonly stack: string;
};

/**
 * Opens this process over AWS's services, or over what stands at `AWS_ENDPOINT_URL`: tables, queues, bus and
 * blobs there, workspaces, secrets and the processes of steps here.
 */
export async function openCloudDeps(options: CloudDepsOptions): Promise<OpenedDeps> {
  const { log, config, resources, stack } = options;
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const runner = await startRunner({
    log,
    functionsModule: new URL("./workflow/functions/library.ts", import.meta.url),
  });
  try {
    const secrets = fileSecrets(dataDir);
    const { commands, scripts } = runner;
    const platform = await openAws({ stack, resources, log, commands, scripts, secrets });
    const token = await accessToken(dataDir, config.accessToken);
    secrets.alsoRedact(token.value);
    const deps = composeDeps(platform.ports, config, {
      auth: ownerAuthenticator(hashToken(token.value)),
      paths: { workspacesDir: join(dataDir, "workspaces"), logsDir: join(dataDir, "runs") },
      queueNames: resources.queues.map(({ name }) => name),
    });
    await firstStart(deps);
    const sweep = (): void => {
      platform
        .sweepTimers(Date.now())
        .catch((error: unknown) => log.error("timers cannot be swept", { error }));
    };
    const timer = setInterval(sweep, TIMERS_SWEPT_EVERY_MS);
    timer.unref();
    let folder: WorkflowFolder | undefined;
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
      close: async () => {
        clearInterval(timer);
        await folder?.close();
        await platform.close();
        await runner.close();
      },
    };
  } catch (error) {
    await runner.close();
    throw error;
  }
}
