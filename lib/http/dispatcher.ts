import {
  type Handler,
  type HttpDeps,
  type InvocationContext,
  lambdaRuntime,
  type StreamHandler,
  writeWhole,
} from "./handler.ts";
import type { ProxyEvent } from "./request.ts";

/** The handler of a request, and the context that it is called with. */
export interface Dispatched {
  readonly handler: Handler;
  readonly context: InvocationContext & { readonly weft: Pick<HttpDeps, "durable"> };
}

/** Selects the handler of a request. Before the gateway has read a body, it is asked for the handler that authenticates. */
export type Dispatch = (event: ProxyEvent, context: InvocationContext | undefined) => Promise<Dispatched>;

/**
 * A handler that passes each request on to another one. Its responses are streamed, because those of the other handlers
 * may be: its route declares `fileTypes`.
 */
export function toDispatcher(dispatch: Dispatch): Handler {
  const authenticate: Handler["authenticate"] = async (event, context) => {
    const found = await dispatch(event, context);
    return (await found.handler.authenticate?.(event, found.context)) ?? { isAuthenticated: false };
  };
  const runtime = lambdaRuntime();
  if (runtime === undefined) {
    const handler: Handler = async (event, context) => {
      const found = await dispatch(event, context);
      return found.handler(event, found.context);
    };
    return Object.assign(handler, { authenticate });
  }
  const stream: StreamHandler = async (event, out, given) => {
    const { handler, context } = await dispatch(event, given);
    if (handler.stream !== undefined) return handler.stream(event, out, context);
    const result = await handler(event, context);
    // The gateway does not wait for the disk before a function writes to the stream.
    if (event.httpMethod !== "GET") await context.weft.durable?.();
    writeWhole(runtime, out, result);
  };
  return Object.assign(runtime.streamifyResponse(stream), { authenticate, stream });
}
