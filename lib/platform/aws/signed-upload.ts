import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import type { BlobUpload } from "../blobs.ts";

/** S3 puts nothing where something lies. */
const ONCE = "*";

/** A request that S3 takes from anybody who has it, with this client's rights: of this length alone, and once. */
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
    // It would be signed, too, and of the bytes nothing is known yet.
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const command = new PutObjectCommand({ Bucket, Key, ContentLength: bytes, IfNoneMatch: ONCE });
  const url = await getSignedUrl(signing, command, { expiresIn: seconds });
  return { method: "PUT", url, headers: { "if-none-match": ONCE } };
}
