import { S3Client } from "@aws-sdk/client-s3";
import { convert } from "../../conversion/convert.ts";
import type { Blobs } from "../blobs.ts";
import {
  baseBlob,
  type ConversionRequest,
  type ConversionResponse,
  inputBlob,
  outputBlob,
} from "../conversions.ts";
import type { Conversion } from "../converter.ts";
import { jsonLog } from "../json-log.ts";
import { awsBlobs } from "./blobs.ts";
import { clientOptions, endpointOf } from "./clients.ts";
import { systemPause } from "./retries.ts";

const log = jsonLog();
let opened: Blobs | undefined;

function openBlobs(): Blobs {
  const { env } = process;
  const bucket = env["WEFT_BLOBS_BUCKET"];
  if (!bucket) throw new Error("WEFT_BLOBS_BUCKET is not set");
  const forcePathStyle = endpointOf(env, "S3") !== undefined;
  const client = new S3Client({ ...clientOptions(env, "S3", 30_000, 4), forcePathStyle });
  return awsBlobs({ client, bucket, pause: systemPause });
}

/**
 * The Lambda function that converts content and ends a conversion that exceeds its time or memory limit. Code that
 * escapes the converter can access only the blobs of conversions, whose ids are secret.
 */
export async function handler(
  { id, ...request }: ConversionRequest,
  context?: { readonly weft?: { readonly blobs: Blobs } },
): Promise<ConversionResponse> {
  opened ??= context?.weft?.blobs ?? openBlobs();
  const bytes = await opened.get(inputBlob(id));
  const { to } = request;
  const base = to === "update" ? await opened.get(baseBlob(id)) : undefined;
  if (bytes === undefined || (to === "update" && base === undefined))
    throw new Error("the content to convert is missing");
  let made: string | Uint8Array;
  try {
    made = await convert({ ...request, bytes, base } as Conversion);
  } catch (error) {
    log.info("converting content failed", { why: String(error).slice(0, 500) });
    return { ok: false };
  }
  await opened.put(outputBlob(id), made);
  return { ok: true };
}
