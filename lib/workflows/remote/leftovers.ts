import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { Log } from "../../platform/log.ts";
import { type ContainerOwner, LABELS, removeContainer } from "./docker.ts";
import { brief } from "./docker-engine.ts";

/** Interval at which containers of finished runs are searched, milliseconds. */
const SWEEP_EVERY_MS = 5_000;
/** Maximum time that an unresponsive engine delays the end of the process, milliseconds. */
const CLOSE_MS = 3_000;

export interface LeftoversOptions {
  readonly owner: ContainerOwner;
  /** A file that exists while this installation may have containers. */
  readonly markPath: string;
  /** Whether the run is finished. */
  readonly isOver: (runId: string) => Promise<boolean>;
  readonly docker: Docker;
  readonly log: Log;
  /** Also removes a persistent container that no step has used for this long, milliseconds; default: never. */
  readonly idleMs?: number | undefined;
}

/**
 * Removes containers without an owner: those of an earlier process on the same data folder, and those of finished
 * runs. Searches periodically while there are any.
 */
export class Leftovers {
  readonly #options: LeftoversOptions;
  #told = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  /** By run: number of steps that use its containers, and time of the last use. */
  readonly #uses = new Map<string, { active: number; lastMs: number }>();

  constructor(options: LeftoversOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** Registers a step's use of the run's containers; the returned function ends it. */
  use(runId: string): () => void {
    const use = this.#useOf(runId);
    use.active += 1;
    this.#expect();
    return () => {
      use.active -= 1;
      use.lastMs = performance.now();
      this.#expect();
    };
  }

  #expect(): void {
    writeFileSync(this.#options.markPath, "");
    this.#schedule();
  }

  #useOf(runId: string): { active: number; lastMs: number } {
    const known = this.#uses.get(runId) ?? { active: 0, lastMs: performance.now() };
    this.#uses.set(runId, known);
    return known;
  }

  async #isWanted(labels: Readonly<Record<string, string>>): Promise<boolean> {
    const { owner, isOver, idleMs = Number.POSITIVE_INFINITY } = this.#options;
    const persistent = labels[LABELS.persistent] !== undefined;
    if (labels[LABELS.owner] !== owner.owner && !persistent) return false;
    const runId = labels[LABELS.run] ?? "";
    if (await isOver(runId)) return false;
    const { active, lastMs } = this.#useOf(runId);
    return !persistent || active > 0 || performance.now() - lastMs < idleMs;
  }

  /** Searches once. Rejects if the engine does not respond. */
  async sweep(): Promise<void> {
    const { owner, markPath, docker, log } = this.#options;
    const found = await docker.listContainers({
      all: true,
      filters: { label: [`${LABELS.install}=${owner.install}`] },
      abortSignal: brief(),
    });
    let removed = 0;
    for (const { Id, Labels } of found) {
      if (await this.#isWanted(Labels)) continue;
      await removeContainer(docker.getContainer(Id));
      removed += 1;
    }
    this.#told = false;
    if (removed > 0) log.info("removed leftover containers", { count: removed });
    const runs = new Set(found.map(({ Labels }) => Labels[LABELS.run]));
    for (const [runId, { active }] of this.#uses)
      if (active === 0 && !runs.has(runId)) this.#uses.delete(runId);
    if (found.length > removed || this.#uses.size > 0) this.#schedule();
    else rmSync(markPath, { force: true });
  }

  /** Searches a last time, if there may be any. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closed = true;
    await this.#sweeping;
    if (!existsSync(this.#options.markPath)) return;
    await Promise.race([this.sweep().catch(() => undefined), sleep(CLOSE_MS)]);
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#sweeping = this.sweep().catch((error: unknown) => {
        // Logged once, since the engine may be unavailable for long.
        if (!this.#told)
          this.#options.log.warn("searching for leftover containers failed", {
            error: String(error),
          });
        this.#told = true;
        this.#schedule();
      });
    }, SWEEP_EVERY_MS).unref();
  }
}
