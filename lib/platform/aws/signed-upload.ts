import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { BlobUpload } from "../blobs.ts";

/** `If-None-Match: *`: S3 rejects the upload if the object exists. */
const ONCE = "*";

/** A presigned S3 request with this client's permissions: for exactly this length, and only once. */
export async function signedUpload(
  { config }: S3Client,
  asked: { readonly Bucket: string; readonly Key: string; readonly bytes: number; readonly seconds: number },
): Promise<BlobUpload> {
  const { Bucket, Key, bytes, seconds } = asked;
  const { region, credentials, endpoint, forcePathStyle = false } = config;
  const signing = new S3Client({
    region,
    credentials,
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // A checksum would be signed too, and the bytes are not known yet.
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const command = new PutObjectCommand({ Bucket, Key, ContentLength: bytes, IfNoneMatch: ONCE });
  const url = await getSignedUrl(signing, command, { expiresIn: seconds });
  return { method: "PUT", url, headers: { "if-none-match": ONCE } };
}
