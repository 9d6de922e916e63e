import type { BlobDownload } from "../blobs.ts";
import { withFaults } from "./faults.ts";
import type { S3 } from "./services.ts";

/** A presigned URL of an object, with this client's permissions. */
export async function signDownloadUrl(
  s3: S3,
  Bucket: string,
  Key: string,
  { seconds, contentType, contentDisposition, cacheControl }: BlobDownload,
): Promise<string> {
  const { client, GetObjectCommand, getSignedUrl } = await s3();
  const command = new GetObjectCommand({
    Bucket,
    Key,
    ResponseContentType: contentType,
    ResponseContentDisposition: contentDisposition,
    ResponseCacheControl: cacheControl,
  });
  return withFaults(() => getSignedUrl(client, command, { expiresIn: seconds }));
}

/**
 * The headers of a signed GET of an object, for a proxy that sends no others: only these and `Host` are signed, which
 * must be the bucket's.
 */
export async function signDownloadHeaders(
  s3: S3,
  Bucket: string,
  Key: string,
): Promise<Readonly<Record<string, string>>> {
  const { client, GetObjectCommand, getSignedUrl, SignatureV4 } = await s3();
  return withFaults(async () => {
    // Only to learn the object's address, which depends on the endpoint and the bucket.
    const { protocol, host, hostname, pathname } = new URL(
      await getSignedUrl(client, new GetObjectCommand({ Bucket, Key })),
    );
    const { region, credentials, sha256 } = client.config;
    const signer = new SignatureV4({ service: "s3", region, credentials, sha256, uriEscapePath: false });
    const { headers } = await signer.sign({
      method: "GET",
      protocol,
      hostname,
      path: pathname,
      query: {},
      headers: { host },
    });
    const { host: _, ...signed } = headers;
    return signed;
  });
}
