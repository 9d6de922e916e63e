import { mkdir } from "node:fs/promises";
import type { OpenedDeps } from "./deps.ts";
import { openProcessDeps, type ProcessOptions } from "./deps-process.ts";
import { openAws } from "./platform/aws/platform.ts";

export interface CloudDepsOptions extends ProcessOptions {
  readonly stack: string;
}

/**
 * Opens this process over AWS's services, or over what stands at `AWS_ENDPOINT_URL`: tables, queues, bus and
 * blobs there, workspaces, secrets and the processes of steps here.
 */
export async function openCloudDeps(options: CloudDepsOptions): Promise<OpenedDeps> {
  const { log, resources, stack } = options;
  const { platform: _platform, ...opened } = await openProcessDeps(
    options,
    async ({ dataDir, runner, secrets }) => {
      await mkdir(dataDir, { recursive: true, mode: 0o700 });
      const { commands, scripts } = runner;
      return openAws({ stack, resources, log, commands, scripts, secrets });
    },
  );
  return opened;
}
