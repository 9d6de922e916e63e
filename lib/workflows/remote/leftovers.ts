import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import type { Log } from "../../platform/log.ts";
import { type ContainerOwner, LABELS, removeContainer } from "./docker.ts";
import { brief } from "./docker-engine.ts";

/** How often containers of runs that are over are looked for, milliseconds. */
const SWEEP_EVERY_MS = 5_000;
/** An engine that gives no answer holds up the end of the process for so long, milliseconds. */
const CLOSE_MS = 3_000;

export interface LeftoversOptions {
  readonly owner: ContainerOwner;
  /** There while this installation may have containers. */
  readonly markPath: string;
  /** Whether the run is over. */
  readonly isOver: (runId: string) => Promise<boolean>;
  readonly docker: Docker;
  readonly log: Log;
  /** A persistent container that no step has used for so long goes too, milliseconds; none where not given. */
  readonly idleMs?: number | undefined;
}

/**
 * Removes containers that nobody else will: those of an earlier process on the same data folder, which is dead, and
 * those of runs that are over. It looks from time to time as long as there are any.
 */
export class Leftovers {
  readonly #options: LeftoversOptions;
  #told = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  /** By run: steps that use its containers now, and when the last one did. */
  readonly #uses = new Map<string, { active: number; lastMs: number }>();

  constructor(options: LeftoversOptions) {
    this.#options = options;
    this.#schedule();
  }

  /** A step of the run is going to use a container, until the answer is called. */
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

  /** Looks once. Rejects where the engine cannot be asked. */
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
    if (removed > 0) log.info("containers removed that were left", { count: removed });
    const runs = new Set(found.map(({ Labels }) => Labels[LABELS.run]));
    for (const [runId, { active }] of this.#uses)
      if (active === 0 && !runs.has(runId)) this.#uses.delete(runId);
    if (found.length > removed || this.#uses.size > 0) this.#schedule();
    else rmSync(markPath, { force: true });
  }

  /** Looks a last time, where there may be any. */
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
        // Told once: the engine may be away for long.
        if (!this.#told)
          this.#options.log.warn("containers that were left could not be looked for", {
            error: String(error),
          });
        this.#told = true;
        this.#schedule();
      });
    }, SWEEP_EVERY_MS).unref();
  }
}
