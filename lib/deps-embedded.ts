import type { Deps, OpenedDeps } from "./deps.ts";
import { openProcessDeps, type ProcessOptions } from "./deps-process.ts";
import { isUploadAllowed } from "./documents/content/uploads.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import type { HostileOptions } from "./platform/embedded/hostile.ts";
import { openEmbedded } from "./platform/embedded/platform.ts";
import type { Resources } from "./platform/resources.ts";
import { openWatches } from "./workflows/watches/watches.ts";

export interface EmbeddedDepsOptions extends ProcessOptions {
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
  const { log, clock = systemClock, resources, hostile } = options;
  const openLast = async (deps: Deps) => (options.schedulerEnabled ? openWatches(deps) : undefined);
  const { platform, ...opened } = await openProcessDeps(
    { ...options, openLast },
    ({ dataDir, runner, secrets, storage }) =>
      openEmbedded({
        dataDir,
        resources: options.schedulerEnabled ? resources : withoutFires(resources),
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
    ...opened,
    uploads: {
      find: (path) => platform.uploads.find(path),
      isAllowed: (upload) => isUploadAllowed(opened.deps, upload),
    },
    poke: () => platform.poke(),
    durable: () => platform.durable(),
    releaseMemory: () => platform.releaseMemory(),
  };
}

/** Without the scheduler nothing is fired; the sweeps go on. */
function withoutFires(resources: Resources): Resources {
  return { ...resources, schedules: resources.schedules.filter(({ queues }) => !queues.includes("fire")) };
}
