import type { Blobs } from "../blobs.ts";
import { awsBlobs } from "./blobs.ts";
import { systemPause } from "./retries.ts";
import { awsServices } from "./services.ts";

/** Context of an invocation on one machine. */
export interface BlobsContext {
  readonly weft?: { readonly blobs: Blobs };
}

let opened: Blobs | undefined;

/** The bucket, which Lambda opens once, for a function that uses nothing else. */
export function openFunctionBlobs(context: BlobsContext | undefined): Blobs {
  const given = context?.weft?.blobs;
  if (given !== undefined) return given;
  opened ??= open();
  return opened;
}

function open(): Blobs {
  const { env } = process;
  const bucket = env["WEFT_BLOBS_BUCKET"];
  if (!bucket) throw new Error("WEFT_BLOBS_BUCKET is not set");
  return awsBlobs({ s3: awsServices({ environment: env }).s3, bucket, pause: systemPause });
}
