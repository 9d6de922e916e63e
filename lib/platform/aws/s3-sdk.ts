/** What is used of the SDK of S3, for `import()`: a bundle would contain the whole package if `import()` named it. */
import { S3Client } from "@aws-sdk/client-s3";
import { type Connection, clientOptions, endpointOf } from "./client-options.ts";

// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
export { getSignedUrl } from "@aws-sdk/s3-request-presigner";
export { SignatureV4 } from "@smithy/signature-v4";

export const createS3 = (connection: Connection): S3Client =>
  new S3Client({
    ...clientOptions(connection, "S3", 30_000, 64),
    // Emulators do not support virtual-hosted bucket names.
    forcePathStyle: endpointOf(connection.environment, "S3") !== undefined,
  });
