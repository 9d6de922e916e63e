import { serialize } from "node:v8";
import type { Blobs } from "../blobs.ts";
import type { Ids } from "../ids.ts";
import type { Log } from "../log.ts";
import type { Renderer } from "../renderer.ts";
import { type RenderingRequest, type RenderingResponse, renderedBlob, renderingBlob } from "../renderings.ts";
import { callIsolated, type Invoke } from "./isolated-function.ts";

/** The renderer port over a separate function. */
export function awsRenderer(options: {
  readonly blobs: Blobs;
  readonly ids: Pick<Ids, "random">;
  readonly log: Log;
  readonly invoke: Invoke;
}): Renderer {
  return {
    render: async (rendering) => {
      const id = options.ids.random();
      const rendered = await callIsolated<RenderingResponse>(options, {
        inputs: new Map([[renderingBlob(id), serialize(rendering)]]),
        output: renderedBlob(id),
        request: { id } satisfies RenderingRequest,
      });
      if (!rendered.ok) return rendered;
      return { ok: true, value: { bytes: rendered.value, issues: rendered.response.issues } };
    },
  };
}
