import { PutObjectCommand } from "@aws-sdk/client-s3";
import type { Environment } from "../client-options.ts";
import { awsClients } from "../clients.ts";
import { withFaults } from "../faults.ts";

/** An object to upload to a bucket. */
export interface ObjectUpload {
  readonly bucket: string;
  readonly key: string;
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Returns how to upload objects with the credentials of the environment. */
export function objectUploader(environment: Environment): (object: ObjectUpload) => Promise<void> {
  const { s3 } = awsClients(environment);
  return async ({ bucket, key, body, contentType, cacheControl }) => {
    const request = { Bucket: bucket, Key: key, Body: body };
    await withFaults(() =>
      s3.send(new PutObjectCommand({ ...request, ContentType: contentType, CacheControl: cacheControl })),
    );
  };
}
