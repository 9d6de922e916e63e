import { rmSync, writeFileSync } from "node:fs";
import type Docker from "dockerode";
import type { Log } from "../../platform/log.ts";
import { type ContainerOwner, LABELS, removeContainer } from "./docker.ts";
import { brief } from "./docker-engine.ts";

/** How often containers of runs that are over are looked for, milliseconds. */
const SWEEP_EVERY_MS = 15_000;

export interface LeftoversOptions {
  readonly owner: ContainerOwner;
  /** There while this installation may have containers. */
  readonly markPath: string;
  /** Whether the run is over. */
  readonly isOver: (runId: string) => Promise<boolean>;
  readonly docker: Docker;
  readonly log: Log;
  readonly everyMs?: number;
}

/**
 * Removes containers that nobody else will: those of an earlier process on the same data folder, which is dead, and
 * those of runs that are over. It looks from time to time as long as there are any.
 */
export class Leftovers {
  readonly #options: LeftoversOptions;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(options: LeftoversOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** A container is going to be made, or was. */
  expect(): void {
    writeFileSync(this.#options.markPath, "");
    this.#schedule();
  }

  /** Looks once. Rejects where the engine cannot be asked. */
  async sweep(): Promise<void> {
    const { owner, markPath, isOver, docker, log } = this.#options;
    const found = await docker.listContainers({
      all: true,
      filters: { label: [`${LABELS.install}=${owner.install}`] },
      abortSignal: brief(),
    });
    let removed = 0;
    for (const { Id, Labels } of found) {
      const ours = Labels[LABELS.owner] === owner.owner || Labels[LABELS.persistent] !== undefined;
      if (ours && !(await isOver(Labels[LABELS.run] ?? ""))) continue;
      await removeContainer(docker.getContainer(Id));
      removed += 1;
    }
    if (removed > 0) log.info("containers removed that were left", { count: removed });
    if (found.length === removed) rmSync(markPath, { force: true });
    else this.#schedule();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#sweeping;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sweeping = this.sweep().catch((error: unknown) => {
        this.#options.log.warn("containers that were left could not be looked for", { error: String(error) });
        this.#schedule();
      });
    }, this.#options.everyMs ?? SWEEP_EVERY_MS).unref();
  }
}
