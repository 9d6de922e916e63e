import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../platform/log.ts";
import { StepCancelledError, StepFailedError } from "../engine/step-failure.ts";
import type { Remote, RemoteMachine, RemoteSettings, RemoteUse } from "./machine.ts";

/** A semaphore that admits a limited number of callers, in order of arrival. */
export class Gate {
  readonly #width: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(width: number) {
    this.#width = width;
    this.#free = width;
  }

  /** Whether nobody holds it or waits for it. */
  get isIdle(): boolean {
    return this.#free === this.#width;
  }

  /** Resolves to a function that releases it. Rejects with StepFailedError on timeout, StepCancelledError on abort. */
  async enter(wanted: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(wanted);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  #turn({ signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(enter);
        settle();
      };
      const enter = (): void => done(resolve);
      const giveUp = (): void => done(() => reject(new StepCancelledError()));
      const late = (): void =>
        done(() => reject(new StepFailedError("timed out waiting for other remote steps")));
      const timer = setTimeout(late, timeoutMs);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(enter);
      if (signal.aborted) giveUp();
    });
  }
}

/** Delay before the client is loaded, so that it does not slow down the start. Milliseconds. */
const BEGIN_MS = 2_000;

/** Maximum number of steps, and foreach items, with a container at the same time; the others wait. */
const CONTAINERS_MAX = 16;

/** Maximum number of connections to one host: sshd rejects new ones while ten are unauthenticated. */
const CONNECTIONS_MAX = 8;

export interface RemoteOptions {
  readonly settings: RemoteSettings;
  /** Absolute; no other process uses it. */
  readonly dataDir: string;
  readonly log: Log;
  /** Whether a run is finished, as far as this process knows. */
  readonly isOver: (runId: string) => Promise<boolean>;
  /**
   * Removes persistent containers that no step has used for this long, milliseconds; for processes that are not
   * notified of the end of all runs.
   */
  readonly idleMs?: number;
}

/** Opens containers and hosts for steps of this process. Clients are loaded with the first step that needs one. */
export function openRemote({ settings, dataDir, log, isOver, idleMs }: RemoteOptions): Remote {
  const install = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const owner = { install, owner: randomUUID() };
  const markPath = join(dataDir, "remote-containers");
  const load = async () => {
    const [engine, containers, { Leftovers }] = await Promise.all([
      import("./docker-engine.ts"),
      import("./docker.ts"),
      import("./leftovers.ts"),
    ]);
    const docker = await engine.dockerClient(settings.dockerHost);
    const leftovers = new Leftovers({ owner, markPath, isOver, docker, log, idleMs });
    return { docker, leftovers, openContainer: containers.openContainer };
  };
  let loaded: ReturnType<typeof load> | undefined;
  const open = (): ReturnType<typeof load> => {
    loaded ??= load();
    loaded.catch(() => {
      loaded = undefined;
    });
    return loaded;
  };
  // An earlier process may have left containers.
  const begin = existsSync(markPath)
    ? setTimeout(() => void open().catch(() => undefined), BEGIN_MS).unref()
    : undefined;
  const gates = new Map<string, Gate>();
  const oneOf = async (
    name: string,
    width: number,
    use: RemoteUse,
    connect: () => Promise<RemoteMachine>,
  ) => {
    const gate = gates.get(name) ?? new Gate(width);
    gates.set(name, gate);
    const leave = await gate.enter(use);
    const done = (): void => {
      leave();
      if (gate.isIdle) gates.delete(name);
    };
    return closedWith(connect, done);
  };
  return {
    settings,
    docker: (target, use) =>
      oneOf("docker", CONTAINERS_MAX, use, async () => {
        const { docker, leftovers, openContainer } = await open();
        return closedWith(() => openContainer(docker, owner, target, use), leftovers.use(use.runId));
      }),
    ssh: (target, use) =>
      oneOf(`ssh ${target.host}:${target.port}`, CONNECTIONS_MAX, use, async () => {
        const { openSsh } = await import("./ssh.ts");
        return openSsh(target, use, settings);
      }),
    close: async () => {
      clearTimeout(begin);
      const parts = await loaded?.catch(() => undefined);
      await parts?.leftovers.close();
    },
  };
}

/** A machine that calls `done` after it was closed, or if it could not be opened. */
async function closedWith(connect: () => Promise<RemoteMachine>, done: () => void): Promise<RemoteMachine> {
  try {
    const machine = await connect();
    return { run: machine.run, close: () => machine.close().finally(done) };
  } catch (error) {
    done();
    throw error;
  }
}
