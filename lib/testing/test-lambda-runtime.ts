import { onTestFinished, vi } from "vitest";
import type { Handler, LambdaRuntime, ResponseHead } from "../http/handler.ts";

/** Replaces the runtime of Lambda until the test ends. Returns the heads of the responses that are streamed through it. */
export function stubLambdaRuntime(): readonly ResponseHead[] {
  const heads: ResponseHead[] = [];
  const runtime: LambdaRuntime = {
    streamifyResponse: (handler) => handler as unknown as Handler,
    HttpResponseStream: {
      from: (stream, head) => {
        heads.push(head);
        return stream;
      },
    },
  };
  vi.stubGlobal("awslambda", runtime);
  onTestFinished(() => void vi.unstubAllGlobals());
  return heads;
}
