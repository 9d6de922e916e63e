import { join } from "node:path";
import type { LastFailure } from "../lib/events/consumer.ts";
import type { UploadReceiver } from "../lib/platform/blobs.ts";
import type { Log } from "../lib/platform/log.ts";
import type { Queues } from "../lib/platform/queues.ts";
import { type CollaborationDeps, openCollaboration } from "./collaboration.ts";
import { createFunctions } from "./functions.ts";
import { type GatewayOptions, startGateway } from "./gateway.ts";
import { installLambdaRuntime } from "./lambda-runtime.ts";
import { startPollers } from "./pollers.ts";
import { limitSteps } from "./step-limiter.ts";
import type { Template } from "./template.ts";
import { openWebFiles } from "./web-files.ts";

/** The built web interface; `web/build/build.ts` writes it. */
const WEB_FOLDER = "node_modules/.cache/weft-web";

/** Time for requests and messages in progress when the platform stops, milliseconds. */
const DRAIN_MS = 10_000;

/** The part of the composition root that the platform uses. */
export interface OpenedDeps {
  /** Passed to every function as `context.weft`. */
  readonly deps: { noteLastFailure(failure: LastFailure): Promise<void> };
  readonly ports: { readonly queues: Queues };
  /** Whether the AWS services respond. */
  isUp?(): Promise<boolean>;
  /** Receives uploads of blobs if the blob store has no URLs of its own. */
  readonly uploads?: UploadReceiver;
  /** Resolves when all writes are on disk, if writes resolve earlier. */
  durable?(): Promise<void>;
  /** For the collaboration server; without it there is none. */
  readonly collaboration?: CollaborationDeps;
  /** Ends requests that would wait for longer than the platform takes to stop. */
  stopWaiting?(): void;
  /** Starts the background work: the scheduler and the watch on the workflow folder. */
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
  /** Whether the queues of workers are polled, too. Default true. */
  readonly worker?: boolean;
  /** Limit of steps that are executed concurrently. Default: as in the template. */
  readonly stepsAtOnce?: number;
}

export interface Platform {
  readonly port: number;
  readonly url: string;
  /** Stops accepting requests and messages, finishes those in progress, then closes the dependencies. */
  close(): Promise<void>;
}

/**
 * Runs the template on this machine: its routes behind the gateway, its queues with pollers. If it cannot start, closes
 * the dependencies and rejects with the reason.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { opened, log, template } = options;
  installLambdaRuntime();
  const invoke = createFunctions({ root: options.root, deps: opened.deps });
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    opened.stopWaiting?.();
    await Promise.all(closing.map((end) => end()));
    await opened.close();
  };
  try {
    const { functions } = template;
    const { host, port, hosts, bodiesDir } = options;
    const durable = async (): Promise<void> => opened.durable?.();
    const uploads = opened.uploads === undefined ? {} : { uploads: opened.uploads };
    const collaboration =
      opened.collaboration === undefined
        ? undefined
        : openCollaboration({ functions, invoke, durable, log, deps: opened.collaboration });
    if (collaboration !== undefined) closing.push(() => collaboration.close());
    const gateway = await startGateway({
      functions,
      invoke,
      log,
      durable,
      ...uploads,
      ...(collaboration === undefined
        ? {}
        : {
            upgrades: collaboration.upgrades,
            requests: new Map([
              ["/collaboration/", (incoming, target) => collaboration.handleRequest(incoming, target)],
            ]),
          }),
      pages: openWebFiles(join(options.root, WEB_FOLDER), log),
      host,
      port,
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
      ...limitSteps(template, options.stepsAtOnce),
    });
    closing.push(() => pollers.drain(DRAIN_MS));
    await opened.start();
    return { port: gateway.port, url: gateway.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
