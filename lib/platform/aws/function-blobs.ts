import { S3Client } from "@aws-sdk/client-s3";
import type { Blobs } from "../blobs.ts";
import { awsBlobs } from "./blobs.ts";
import { clientOptions, endpointOf } from "./clients.ts";
import { systemPause } from "./retries.ts";

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
  const forcePathStyle = endpointOf(env, "S3") !== undefined;
  const client = new S3Client({ ...clientOptions(env, "S3", 30_000, 4), forcePathStyle });
  return awsBlobs({ client, bucket, pause: systemPause });
}
