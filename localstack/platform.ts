import type { LastFailure } from "../lib/events/consumer.ts";
import type { UploadReceiver } from "../lib/platform/blobs.ts";
import type { Log } from "../lib/platform/log.ts";
import type { Queues } from "../lib/platform/queues.ts";
import { createFunctions } from "./functions.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import { installLambdaRuntime } from "./lambda-runtime.ts";
import { startPollers } from "./pollers.ts";
import { limitedSteps } from "./step-limiter.ts";
import type { Template } from "./template.ts";

/** Requests and messages under way get so long to finish when the platform stops, milliseconds. */
const DRAIN_MS = 10_000;

/** What the composition root opens, as far as it is used here. */
export interface OpenedDeps {
  /** Handed to every function as `context.weft`. */
  readonly deps: { noteLastFailure(failure: LastFailure): Promise<void> };
  readonly ports: { readonly queues: Queues };
  /** Whether the services answer that everything leans on. */
  isUp?(): Promise<boolean>;
  /** Takes uploads of blobs, where the store has no addresses of its own. */
  readonly uploads?: UploadReceiver;
  /** Settles when all that was written is on disk, where writes settle before. */
  durable?(): Promise<void>;
  /** Begins what runs by itself: the scheduler, the watch on the workflow folder. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface PlatformOptions {
  readonly template: Template;
  /** The template's folder. */
  readonly root: string;
  readonly opened: OpenedDeps;
  readonly log: Log;
  readonly host: string;
  readonly port: number;
  /** Further hosts that requests may be addressed to. */
  readonly hosts?: GatewayOptions["hosts"];
  /** The folder for large bodies; without it they are read into memory. */
  readonly bodiesDir?: string;
  /** Whether the queues of workers are polled here too; so where it is not given. */
  readonly worker?: boolean;
  /** How many steps are executed at once; as many as the template says where it is not given. */
  readonly stepsAtOnce?: number;
}

export interface Platform {
  readonly port: number;
  readonly url: string;
  /** Stops accepting, finishes what is under way, then closes the dependencies. */
  close(): Promise<void>;
}

/**
 * Runs the template on this machine: the gateway before its routes, the pollers before its queues. Closes
 * the dependencies when it cannot start, and rejects with the reason.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { opened, log, template } = options;
  installLambdaRuntime();
  const invoke = createFunctions({ root: options.root, deps: opened.deps });
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(closing.map((end) => end()));
    await opened.close();
  };
  try {
    const { functions } = template;
    const { host, port, hosts, bodiesDir } = options;
    const durable = async (): Promise<void> => opened.durable?.();
    const uploads = opened.uploads === undefined ? {} : { uploads: opened.uploads };
    const gateway = await startGateway({
      ...{ functions, invoke, log, durable, ...uploads, host, port },
      ...(hosts === undefined ? {} : { hosts }),
      ...(bodiesDir === undefined ? {} : { bodiesDir }),
    });
    closing.push(() => gateway.close(DRAIN_MS));
    const pollers = startPollers({
      functions: options.worker === false ? functions.filter((fn) => !fn.worker) : functions,
      invoke,
      queues: opened.ports.queues,
      log,
      isUp: async () => (await opened.isUp?.()) ?? true,
      noteLastFailure: (failure) => opened.deps.noteLastFailure(failure),
      ...limitedSteps(template, options.stepsAtOnce),
    });
    closing.push(() => pollers.drain(DRAIN_MS));
    await opened.start();
    return { port: gateway.port, url: gateway.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
