import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Authentication, Handler } from "../lib/http/handler.ts";
import type { ProxyEvent } from "../lib/http/request.ts";
import { recordDuration } from "../lib/platform/high-water-marks.ts";
import { LIMITS, type LimitName, limitFault } from "../lib/platform/limits.ts";
import { bundled } from "./bundled.ts";
import { isStreaming, type LocalResponseStream } from "./lambda-runtime.ts";
import type { TemplateFunction } from "./template.ts";

/** Any handler: buffered ones take (event, context), streaming ones (event, stream, context). */
export type AnyHandler = (...args: unknown[]) => unknown;

export class InvocationTimeout extends Error {
  readonly code = "invocation_timeout";
  constructor(functionName: string, seconds: number) {
    super(`${functionName} exceeded its timeout of ${seconds} s`);
    this.name = "InvocationTimeout";
  }
}

export interface InvocationOptions {
  readonly requestId: string;
  /** Resolves when the body of the request has been received, if the handler reads it meanwhile: its timeout begins then. */
  readonly received?: Promise<void> | undefined;
  /** Called if the handler is a streaming one. */
  readonly stream?: () => LocalResponseStream;
}

export interface Invocation {
  /** The result of the handler. Rejects with the handler's error, with InvocationTimeout, or if it cannot be loaded. */
  readonly result: Promise<unknown>;
  /** Aborts the handler's signal; `result` still settles as the handler does. */
  abort(reason: unknown): void;
}

export interface Functions {
  /**
   * Authenticates a request by its function before its body is read. To a function that is not a route of the HTTP
   * layer, all requests are anonymous. Rejects if it cannot be loaded.
   */
  authenticate(
    fn: TemplateFunction,
    event: ProxyEvent,
    requestId: string,
  ): Authentication | Promise<Authentication>;
  start(fn: TemplateFunction, event: unknown, options: InvocationOptions): Invocation;
}

export interface FunctionsOptions {
  /** The folder that relative entries start from. */
  readonly root: string;
  /** Passed to every handler as `context.weft`. */
  readonly deps: unknown;
  readonly load?: (fn: TemplateFunction) => Promise<AnyHandler>;
}

const ANONYMOUS: Authentication = { isAuthenticated: false };

/** The handler's signal aborts this long before its timeout, so that it can still return a result, milliseconds. */
const NOTICE_MS = 500;

/**
 * Throws `limit_exceeded` for a function whose timeout AWS would not allow. Workers are not Lambda functions; a streamed
 * response may take as long as its function.
 */
export function checkTimeouts(functions: readonly TemplateFunction[]): void {
  for (const { logicalId, timeoutSeconds, worker, routes } of functions) {
    if (worker) continue;
    const limit: LimitName = routes.some(({ stream }) => !stream) ? "httpHandlerSeconds" : "handlerSeconds";
    if (timeoutSeconds > LIMITS[limit].value)
      throw limitFault(limit, `the function ${logicalId}`, timeoutSeconds);
  }
}

/** Runs the template's functions in this process; each is loaded on its first invocation. */
export function createFunctions(options: FunctionsOptions): Functions {
  const load = options.load ?? ((fn) => importHandler(fn, options.root));
  const loaded = new Map<string, AnyHandler>();
  const loading = new Map<string, Promise<AnyHandler>>();

  const handlerOf = (fn: TemplateFunction): AnyHandler | Promise<AnyHandler> => {
    const ready = loaded.get(fn.logicalId);
    if (ready !== undefined) return ready;
    const pending = loading.get(fn.logicalId) ?? load(fn).then((handler) => remember(fn, handler));
    loading.set(fn.logicalId, pending);
    return pending;
  };
  const remember = (fn: TemplateFunction, handler: AnyHandler): AnyHandler => {
    loaded.set(fn.logicalId, handler);
    loading.delete(fn.logicalId);
    return handler;
  };

  return {
    authenticate: (fn, event, requestId) => {
      const call = ({ authenticate }: Partial<Handler>): Authentication | Promise<Authentication> =>
        authenticate?.(event, { awsRequestId: requestId, weft: options.deps }) ?? ANONYMOUS;
      const found = handlerOf(fn);
      return typeof found === "function"
        ? call(found as Partial<Handler>)
        : found.then((handler) => call(handler as Partial<Handler>));
    },
    start: (fn, event, { requestId, stream, received }) => {
      const timeoutMs = fn.worker ? Number.POSITIVE_INFINITY : fn.timeoutSeconds * 1000;
      const context = new InvocationContext(fn.logicalId, requestId, options.deps, timeoutMs);
      const call = async (): Promise<unknown> => {
        const found = handlerOf(fn);
        const handler = typeof found === "function" ? found : await found;
        return isStreaming(handler) && stream !== undefined
          ? handler(event, stream(), context)
          : handler(event, context);
      };
      const result = fn.worker ? timed(call, fn) : withinTime(call, context, timeoutMs, fn, received);
      return { result, abort: (reason) => context.abort(reason) };
    },
  };
}

async function importHandler(fn: TemplateFunction, root: string): Promise<AnyHandler> {
  const path = resolve(root, fn.entry);
  const load = bundled.functions[path];
  const module = await (load === undefined
    ? (import(pathToFileURL(path).href) as Promise<Record<string, unknown>>)
    : load());
  const handler = module[fn.handlerExport];
  if (typeof handler !== "function") throw new TypeError(`${fn.entry} does not export ${fn.handlerExport}`);
  return handler as AnyHandler;
}

async function timed(call: () => Promise<unknown>, { logicalId }: TemplateFunction): Promise<unknown> {
  const startedAt = performance.now();
  try {
    return await call();
  } finally {
    recordDuration(logicalId, performance.now() - startedAt);
  }
}

function withinTime(
  call: () => Promise<unknown>,
  context: InvocationContext,
  timeoutMs: number,
  fn: TemplateFunction,
  received: Promise<void> | undefined,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let startedAt = performance.now();
    const noticeMs = Math.min(NOTICE_MS, timeoutMs / 10);
    const startTimer = (): NodeJS.Timeout =>
      setTimeout(() => {
        const timeout = new InvocationTimeout(fn.logicalId, fn.timeoutSeconds);
        context.abort(timeout);
        timer = setTimeout(() => {
          recordDuration(fn.logicalId, Math.max(timeoutMs, performance.now() - startedAt));
          reject(timeout);
        }, noticeMs);
      }, timeoutMs - noticeMs);
    let timer = received === undefined ? startTimer() : undefined;
    let isSettled = false;
    void received?.then(() => {
      if (isSettled) return;
      startedAt = performance.now();
      timer = startTimer();
    });
    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
      recordDuration(fn.logicalId, performance.now() - startedAt);
    };
    call().then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}

/** Lambda's context, as far as handlers use it, with the local platform's additions `signal` and `weft`. */
class InvocationContext {
  readonly functionName: string;
  readonly awsRequestId: string;
  readonly weft: unknown;
  readonly #deadline: number;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(functionName: string, awsRequestId: string, weft: unknown, timeoutMs: number) {
    this.functionName = functionName;
    this.awsRequestId = awsRequestId;
    this.weft = weft;
    this.#deadline = performance.now() + timeoutMs;
  }

  /** Created on first use: most handlers do not read it, and it costs more than the rest of the context. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  getRemainingTimeInMillis(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}
