import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../platform/log.ts";
import { StepCancelled, StepFailed } from "../engine/step-failure.ts";
import type { Remote, RemoteMachine, RemoteSettings, RemoteUse } from "./machine.ts";

/** Lets so many in at a time, in the order in which they came. */
export class Gate {
  readonly #width: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(width: number) {
    this.#width = width;
    this.#free = width;
  }

  /** Whether nobody is in, and nobody waits. */
  get isIdle(): boolean {
    return this.#free === this.#width;
  }

  /** The answer lets the next one in. Rejects with StepFailed when the time is over, StepCancelled when it is given up. */
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
      const giveUp = (): void => done(() => reject(new StepCancelled()));
      const late = (): void => done(() => reject(new StepFailed("timed out waiting for other remote steps")));
      const timer = setTimeout(late, timeoutMs);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.add(enter);
      if (signal.aborted) giveUp();
    });
  }
}

/** The client is loaded when the start is over, milliseconds. */
const BEGIN_MS = 2_000;

/** Steps, and items of a foreach, that have a container at the same time; the others wait. */
const CONTAINERS_MAX = 16;

/** Those that are logged in on one host: sshd turns away whoever comes while ten are at the door. */
const CONNECTIONS_MAX = 8;

export interface RemoteOptions {
  readonly settings: RemoteSettings;
  /** Absolute; no other process has it. */
  readonly dataDir: string;
  readonly log: Log;
  /** Whether a run is over, as far as it can be known here. */
  readonly isOver: (runId: string) => Promise<boolean>;
  /** Persistent containers go when no step has used them for so long, milliseconds; for who is not told the end of all runs. */
  readonly idleMs?: number;
}

/** Containers and hosts for steps of this process. Their clients are loaded with the first step that needs one. */
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
  // An earlier process may have left some.
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

/** A machine that calls `done` once it is closed, or could not be opened. */
async function closedWith(connect: () => Promise<RemoteMachine>, done: () => void): Promise<RemoteMachine> {
  try {
    const machine = await connect();
    return { run: machine.run, close: () => machine.close().finally(done) };
  } catch (error) {
    done();
    throw error;
  }
}
