import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { StepFailedError } from "../engine/step-failure.ts";
import { follow, type RemoteProcess } from "./command.ts";
import { brief, engineFailure, requireImage, statusOf } from "./docker-engine.ts";
import { killScript, LAUNCH, launcherInput } from "./launcher.ts";
import type { DockerTarget, RemoteCommand, RemoteMachine, RemoteUse } from "./machine.ts";
import { type OutputFiles, pump } from "./output-files.ts";
import { earlierTokens } from "./tokens.ts";

/** Stream type, three zero bytes, payload length. Source: Docker Engine API, "Stream format". */
const HEADER_BYTES = 8;

const STDERR = 2;

/** Demultiplexes standard output and standard error from an engine's stream. */
export class DockerOutput {
  readonly #output: Pick<OutputFiles, "write">;
  #header = Buffer.alloc(0);
  #kind: "stdout" | "stderr" = "stdout";
  #left = 0;

  constructor(output: Pick<OutputFiles, "write">) {
    this.#output = output;
  }

  async take(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const part = chunk.subarray(at, at + HEADER_BYTES - this.#header.length);
        at += part.length;
        this.#header = Buffer.concat([this.#header, part]);
        if (this.#header.length < HEADER_BYTES) return;
        this.#kind = this.#header[0] === STDERR ? "stderr" : "stdout";
        this.#left = this.#header.readUInt32BE(4);
        this.#header = Buffer.alloc(0);
      } else {
        const part = chunk.subarray(at, at + this.#left);
        at += part.length;
        this.#left -= part.length;
        await this.#output.write(this.#kind, part);
      }
    }
  }
}

/** Labels that identify Weft's containers and their owners. */
export const LABELS = {
  /** The installation, by its data folder. */
  install: "weft.install",
  /** The process that created it. */
  owner: "weft.owner",
  run: "weft.run",
  step: "weft.step",
  persistent: "weft.persistent",
} as const;

/** The owner of containers. */
export interface ContainerOwner {
  readonly install: string;
  readonly owner: string;
}

/** A container that is not removed exits by itself: this long after its step's timeout, or after a week. Seconds. */
const GRACE_SECONDS = 120;

const PERSISTENT_SECONDS = 7 * 24 * 60 * 60;

/** The exit code may be available only shortly after the end. Milliseconds. */
const EXIT_CODE_MS = 10_000;

const EXIT_CODE_EVERY_MS = 20;

/**
 * Opens a container for a step: its own, removed with the step, or the run's if the step asks for a persistent one.
 * Processes of earlier attempts are killed first. Rejects with StepFailedError.
 */
export async function openContainer(
  docker: Docker,
  owner: ContainerOwner,
  target: DockerTarget,
  use: RemoteUse,
): Promise<RemoteMachine> {
  await requireImage(docker, target.image, use);
  if (use.attempt > 1 && !target.persistent) await removeEarlier(docker, use);
  const container = await startContainer(docker, owner, target, use);
  const machine: RemoteMachine = {
    run: (command: RemoteCommand) =>
      follow(command, (output) => startProcess(container, launcherInput(command), output)),
    close: async () => {
      // A persistent container belongs to the run and is removed after it.
      if (!target.persistent) await removeContainer(container).catch(() => undefined);
    },
  };
  if (use.attempt > 1 && target.persistent) await endEarlier(container, use);
  return machine;
}

async function startContainer(
  docker: Docker,
  owner: ContainerOwner,
  target: DockerTarget,
  use: RemoteUse,
): Promise<Docker.Container> {
  const seconds = target.persistent ? PERSISTENT_SECONDS : Math.ceil(use.timeoutMs / 1000) + GRACE_SECONDS;
  const name = target.persistent ? persistentName(target, use) : undefined;
  const options: Docker.ContainerCreateOptions = {
    ...(name === undefined ? {} : { name }),
    Image: target.image,
    Entrypoint: ["sh"],
    Cmd: ["-c", `trap "exit 0" TERM; sleep ${seconds} & wait`],
    ...(target.workdir === undefined ? {} : { WorkingDir: target.workdir }),
    ...(target.user === undefined ? {} : { User: target.user }),
    Labels: {
      [LABELS.install]: owner.install,
      [LABELS.owner]: owner.owner,
      [LABELS.run]: use.runId,
      [LABELS.step]: use.step,
      ...(target.persistent ? { [LABELS.persistent]: "true" } : {}),
    },
    HostConfig: {
      Privileged: false,
      AutoRemove: !target.persistent,
      ...(target.network === undefined ? {} : { NetworkMode: target.network }),
      Mounts: target.mounts.map(({ source, target: Target, readOnly }) => ({
        Type: "bind" as const,
        Source: source,
        Target,
        ReadOnly: readOnly,
      })),
    },
    abortSignal: brief(use),
  };
  const container = await create(docker, options, name, use);
  try {
    // 304: a persistent container is already running.
    await container.start({ abortSignal: brief(use) }).catch((error: unknown) => {
      if (statusOf(error) !== 304) throw error;
    });
    return container;
  } catch (error) {
    if (!target.persistent) await removeContainer(container).catch(() => undefined);
    throw engineFailure("the container could not be started", error);
  }
}

async function create(
  docker: Docker,
  options: Docker.ContainerCreateOptions,
  name: string | undefined,
  use: RemoteUse,
): Promise<Docker.Container> {
  const existing = async (): Promise<Docker.Container | undefined> => {
    if (name === undefined) return undefined;
    const container = docker.getContainer(name);
    return container.inspect({ abortSignal: brief(use) }).then(
      () => container,
      () => undefined,
    );
  };
  const known = await existing();
  if (known !== undefined) return known;
  try {
    return await docker.createContainer(options);
  } catch (error) {
    // Another step of the run may have created it concurrently.
    const made = await existing();
    if (made !== undefined) return made;
    throw engineFailure("the container could not be created", error);
  }
}

/** Steps of a run that ask for the same container share it. */
function persistentName(
  { image, mounts, network, workdir, user }: DockerTarget,
  { runId }: RemoteUse,
): string {
  const asked = JSON.stringify([image, mounts, network, workdir, user]);
  const hash = createHash("sha256").update(asked).digest("hex").slice(0, 12);
  return `weft-${runId.replaceAll(/[^A-Za-z0-9_.-]/g, "_")}-${hash}`;
}

/** Removes a container and kills its processes. Resolves if it is already removed. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true, abortSignal: brief() });
  } catch (error) {
    // 404: already removed; 409: removal in progress.
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
  }
}

async function removeEarlier(docker: Docker, use: RemoteUse): Promise<void> {
  const { runId, step } = use;
  try {
    const left = await docker.listContainers({
      all: true,
      filters: { label: [`${LABELS.run}=${runId}`, `${LABELS.step}=${step}`] },
      abortSignal: brief(use),
    });
    for (const { Id, Labels } of left)
      if (Labels[LABELS.persistent] === undefined) await removeContainer(docker.getContainer(Id));
  } catch (error) {
    throw engineFailure("the leftovers of an earlier attempt could not be removed", error);
  }
}

async function endEarlier(container: Docker.Container, use: RemoteUse): Promise<void> {
  const input = launcherInput({ script: killScript(earlierTokens(use)), env: {}, token: "sweep" });
  const sweep = await startProcess(container, input, { write: async () => undefined });
  const stop = AbortSignal.any([use.signal, brief()]);
  stop.addEventListener("abort", () => sweep.abandon(), { once: true });
  await sweep.ended;
}

async function startProcess(
  container: Docker.Container,
  input: Buffer,
  output: Pick<OutputFiles, "write">,
): Promise<RemoteProcess> {
  let exec: Docker.Exec;
  let stream: Duplex;
  try {
    exec = await container.exec({
      Cmd: [...LAUNCH],
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      abortSignal: brief(),
    });
    stream = await exec.start({ hijack: true, stdin: true });
  } catch (error) {
    throw engineFailure("the command could not be started in the container", error);
  }
  const frames = new DockerOutput(output);
  const ended = pump(stream, (chunk) => frames.take(chunk))
    .catch((error: unknown) => {
      throw engineFailure("the connection to the container was lost", error);
    })
    .then(() => exitCode(exec))
    .finally(() => stream.destroy());
  ended.catch(() => undefined);
  stream.write(input);
  return { ended, kill: () => void stream.end(), abandon: () => void stream.destroy() };
}

async function exitCode(exec: Docker.Exec): Promise<number> {
  const until = performance.now() + EXIT_CODE_MS;
  try {
    for (;;) {
      const { Running, ExitCode } = await exec.inspect({ abortSignal: brief() });
      if (!Running && ExitCode !== null) return ExitCode;
      if (performance.now() > until) break;
      await sleep(EXIT_CODE_EVERY_MS);
    }
  } catch (error) {
    throw engineFailure("the command's exit code is not known", error);
  }
  throw new StepFailedError("the connection to the container was lost");
}
