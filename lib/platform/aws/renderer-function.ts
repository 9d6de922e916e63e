import { deserialize } from "node:v8";
import { render } from "../../export/render.ts";
import { jsonLog } from "../json-log.ts";
import type { Rendered, Rendering } from "../renderer.ts";
import { type RenderingRequest, type RenderingResponse, renderedBlob, renderingBlob } from "../renderings.ts";
import { type BlobsContext, openFunctionBlobs } from "./function-blobs.ts";

const log = jsonLog();

/**
 * The Lambda function that writes documents as files and ends a rendering that exceeds its time or memory limit. Code
 * that escapes it can access only the blobs of renderings, whose ids are secret.
 */
export async function handler({ id }: RenderingRequest, context?: BlobsContext): Promise<RenderingResponse> {
  const blobs = openFunctionBlobs(context);
  const given = await blobs.get(renderingBlob(id));
  if (given === undefined) throw new Error("the document to render is missing");
  let made: Rendered;
  try {
    made = await render(deserialize(given) as Rendering);
  } catch (error) {
    log.info("rendering a document failed", { why: String(error).slice(0, 500) });
    return { ok: false };
  }
  await blobs.put(renderedBlob(id), made.bytes);
  return { ok: true, issues: made.issues };
}
