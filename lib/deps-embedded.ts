import type { OpenedDeps } from "./deps.ts";
import { openProcessDeps, type ProcessOptions } from "./deps-process.ts";
import { type Clock, systemClock } from "./platform/clock.ts";
import type { HostileOptions } from "./platform/embedded/hostile.ts";
import { openEmbedded } from "./platform/embedded/platform.ts";
import type { Resources } from "./platform/resources.ts";
import { openWatches, type Watches } from "./workflow/watches/watches.ts";

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
  const { platform, ...opened } = await openProcessDeps(options, ({ dataDir, runner, secrets }) =>
    openEmbedded({
      dataDir,
      resources: options.schedulerEnabled ? resources : withoutFires(resources),
      clock,
      log,
      commands: runner.commands,
      scripts: runner.scripts,
      secrets,
      ...(hostile === undefined ? {} : { hostile }),
    }),
  );
  let watches: Watches | undefined;
  return {
    ...opened,
    uploads: platform.uploads,
    start: async () => {
      await opened.start();
      if (options.schedulerEnabled) watches = await openWatches(opened.deps);
    },
    close: async () => {
      await watches?.close();
      await opened.close();
    },
    poke: () => platform.poke(),
    durable: () => platform.durable(),
  };
}

/** Without the scheduler nothing is fired; the sweeps go on. */
function withoutFires(resources: Resources): Resources {
  return { ...resources, schedules: resources.schedules.filter(({ queues }) => !queues.includes("fire")) };
}
