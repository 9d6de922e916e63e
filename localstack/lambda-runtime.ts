import type { Handler, LambdaRuntime, ResponseHead, ResponseStream } from "../lib/http/handler.ts";

const STREAMING = Symbol("streaming handler");

/** Called with status and headers before the first byte of a streamed response. */
export const START = Symbol("start of the response");

/** A response stream of the gateway: Lambda's, with a method that receives status and headers. */
export interface LocalResponseStream extends ResponseStream {
  [START](head: ResponseHead): void;
}

function takesHead(stream: ResponseStream): stream is LocalResponseStream {
  return START in stream;
}

const runtime: LambdaRuntime = {
  streamifyResponse: (handler) => Object.assign(handler, { [STREAMING]: true }) as unknown as Handler,
  HttpResponseStream: {
    from: (stream, head) => {
      if (!takesHead(stream)) throw new TypeError("Not a response stream of this gateway");
      stream[START](head);
      return stream;
    },
  },
};

/** Puts Lambda's `awslambda` into the global scope. Functions look for it when they are loaded, so call it first. */
export function installLambdaRuntime(): void {
  (globalThis as { awslambda?: LambdaRuntime }).awslambda = runtime;
}

/** Whether a handler was made by `awslambda.streamifyResponse`: its second argument is the stream. */
export function isStreaming(handler: object): boolean {
  return STREAMING in handler;
}
