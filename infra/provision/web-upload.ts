import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WEB_PAGE_BLOB } from "../../lib/http/web-page.ts";
import { type ObjectUpload, objectUploader } from "../../lib/platform/aws/provision/put-object.ts";

/** Uploads done concurrently. */
const AT_ONCE = 8;

export interface WebBuckets {
  /** Of the outputs `WebBucketName` and `BlobsBucketName` of the stack. */
  readonly web: string;
  readonly blobs: string;
}

/**
 * Uploads the built web interface: first its files, whose names contain a hash of their content, then the page, so that
 * a page never refers to a file that is not there yet. Files of earlier builds stay, for pages that are open. Returns
 * the number of files.
 */
export async function uploadWeb(
  folder: string,
  buckets: WebBuckets,
  put: (object: ObjectUpload) => Promise<unknown>,
): Promise<number> {
  const { files } = JSON.parse(await readFile(join(folder, "web.json"), "utf8")) as {
    files: Readonly<Record<string, { readonly type: string }>>;
  };
  const next = Object.entries(files).values();
  const work = async (): Promise<void> => {
    for (const [path, { type }] of next)
      await put({
        bucket: buckets.web,
        key: path.replace(/^\//, ""),
        body: await readFile(join(folder, path)),
        contentType: type,
        cacheControl: "public, max-age=31536000, immutable",
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await put({
    bucket: buckets.blobs,
    key: WEB_PAGE_BLOB,
    body: await readFile(join(folder, "index.html")),
    contentType: "text/html; charset=utf-8",
    cacheControl: "no-store",
  });
  return Object.keys(files).length;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { "web-bucket": { type: "string" }, "blobs-bucket": { type: "string" } },
  });
  const { "web-bucket": web, "blobs-bucket": blobs } = values;
  if (web === undefined || blobs === undefined)
    throw new Error(
      "--web-bucket and --blobs-bucket are required: the outputs WebBucketName and BlobsBucketName of the stack",
    );
  const folder = fileURLToPath(new URL("../../node_modules/.cache/weft-web", import.meta.url));
  const count = await uploadWeb(folder, { web, blobs }, objectUploader(process.env));
  console.log(`uploaded the page and ${count} files`);
}

if (import.meta.main) await main();
