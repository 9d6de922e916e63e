import { once } from "node:events";
import type Docker from "dockerode";
import { StepFailedError } from "../engine/step-failure.ts";

/** Timeout of one request to the engine that does not wait for a command, milliseconds. */
export const REQUEST_MS = 60_000;
/** Timeout of a pull, unless the step's is shorter, milliseconds. */
const PULL_MS = 15 * 60_000;
const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "EACCES",
  "ECONNRESET",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);

/** Loads the client for the engine's address. Throws StepFailedError for an invalid address. */
export async function dockerClient(dockerHost: string | undefined): Promise<Docker> {
  const options = addressOf(dockerHost);
  const { default: Client } = await import("dockerode");
  return new Client(options);
}

/** Without an address the client uses the default locations. */
function addressOf(dockerHost: string | undefined): Docker.DockerOptions {
  if (dockerHost === undefined) return {};
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(dockerHost) ?? [];
  if (socketPath !== undefined) return { socketPath, host: undefined } as unknown as Docker.DockerOptions;
  const url = URL.canParse(dockerHost) ? new URL(dockerHost) : undefined;
  if (url === undefined || !["tcp:", "http:", "https:"].includes(url.protocol))
    throw new StepFailedError("DOCKER_HOST: must be unix:///path or tcp://host:port");
  const secure = url.protocol === "https:" || url.port === "2376";
  return { host: url.hostname, port: url.port || 2375, protocol: secure ? "https" : "http" };
}

/** The engine's error as a failure of the step. */
export function engineFailure(what: string, error: unknown): StepFailedError {
  if (error instanceof StepFailedError) return error;
  const { code, name, json, message = String(error) } = error as EngineError;
  if (code !== undefined && UNREACHABLE.has(code))
    return new StepFailedError(`the Docker engine does not respond (${code}): start it, or set DOCKER_HOST`);
  if (name === "AbortError" || name === "TimeoutError")
    return new StepFailedError(`${what}: the engine did not respond in time`);
  return new StepFailedError(`${what}: ${json?.message ?? json?.cause ?? message}`);
}

interface EngineError {
  readonly code?: string;
  readonly name?: string;
  readonly message?: string;
  readonly json?: { readonly message?: string; readonly cause?: string };
}

export function statusOf(error: unknown): number | undefined {
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : undefined;
}

/** The abort signal and timeout of a request. */
interface Wanted {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A signal for one request. */
export function brief(wanted?: Wanted, milliseconds = REQUEST_MS): AbortSignal {
  if (wanted === undefined) return AbortSignal.timeout(milliseconds);
  return AbortSignal.any([wanted.signal, AbortSignal.timeout(Math.min(milliseconds, wanted.timeoutMs))]);
}

/** Pulls the image if the engine does not have it. Rejects with StepFailedError. */
export async function requireImage(docker: Docker, image: string, wanted: Wanted): Promise<void> {
  try {
    // The client's pull accepts no signal.
    const late = once(brief(wanted), "abort").then(() => Promise.reject(new DOMException("", "AbortError")));
    await Promise.race([docker.getImage(image).inspect(), late]);
    return;
  } catch (error) {
    if (statusOf(error) !== 404) throw engineFailure(`image ${image}`, error);
  }
  const abortSignal = brief(wanted, PULL_MS);
  try {
    const progress = await docker.pull(tagged(image), { abortSignal });
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(progress, (error: Error | null, lines: readonly { error?: string }[]) => {
        const told = lines.find((line) => line.error !== undefined)?.error;
        if (error !== null || told !== undefined) reject(error ?? new Error(told));
        else resolve();
      });
    });
  } catch (error) {
    throw engineFailure(`image ${image} does not exist and could not be pulled`, error);
  }
}

/** Adds the default tag: without a tag an engine pulls all tags. */
function tagged(image: string): string {
  return /[:@][^/]*$/.test(image) ? image : `${image}:latest`;
}
