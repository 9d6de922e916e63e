import { ContentError } from "../../conversion/content-error.ts";
import { convert } from "../../conversion/convert.ts";
import {
  baseBlob,
  type ConversionRequest,
  type ConversionResponse,
  inputBlob,
  outputBlob,
} from "../conversions.ts";
import type { Conversion } from "../converter.ts";
import { jsonLog } from "../json-log.ts";
import { type BlobsContext, openFunctionBlobs } from "./function-blobs.ts";

const log = jsonLog();

/**
 * The Lambda function that converts content and ends a conversion that exceeds its time or memory limit. Code that
 * escapes the converter can access only the blobs of conversions, whose ids are secret.
 */
export async function handler(
  { id, ...request }: ConversionRequest,
  context?: BlobsContext,
): Promise<ConversionResponse> {
  const blobs = openFunctionBlobs(context);
  const bytes = await blobs.get(inputBlob(id));
  const { to } = request;
  const base = to === "update" ? await blobs.get(baseBlob(id)) : undefined;
  if (bytes === undefined || (to === "update" && base === undefined))
    throw new Error("the content to convert is missing");
  let made: string | Uint8Array;
  try {
    made = await convert({ ...request, bytes, base } as Conversion);
  } catch (error) {
    log.info("converting content failed", { why: String(error).slice(0, 500) });
    return { ok: false, ...(error instanceof ContentError ? { message: error.message } : {}) };
  }
  await blobs.put(outputBlob(id), made);
  return { ok: true };
}
