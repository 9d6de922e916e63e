import { ApiFailure } from "../../../client/api.ts";
import type { Artifact } from "./files-page.tsx";

/** Bytes of a text that are read to be shown. */
export const PREVIEW_MAX_BYTES = 10_000_000;
/** A file that contains a zero byte in its beginning is not text. */
const SNIFFED_BYTES = 8_192;

/** Formats that every browser decodes, by extension. An image cannot run scripts, not even one in SVG. */
const IMAGES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  svg: "image/svg+xml",
};

export type Preview = { readonly isWhole: boolean } & (
  | { readonly kind: "image"; readonly blob: Blob }
  | { readonly kind: "text" | "json"; readonly text: string }
  | { readonly kind: "binary" }
);

/** The address that returns a file. Browsers save it and never show it in the origin of the page. */
export const filePath = ({
  workspace,
  artifact_path,
}: Pick<Artifact, "workspace" | "artifact_path">): string =>
  `/automation/artifacts/${encodeURIComponent(workspace)}?${new URLSearchParams({ artifact_path })}`;

/** Reads the beginning of a file, and finds out how it can be shown. */
export async function readPreview(artifact: Artifact, signal: AbortSignal): Promise<Preview> {
  const response = await fetch(filePath(artifact), { signal });
  if (!response.ok) throw new ApiFailure(response.status, await response.json().catch(() => undefined));
  const { bytes, isWhole } = await readBeginning(response);
  const extension = artifact.artifact_path.split(".").at(-1)?.toLowerCase() ?? "";
  const image = Object.hasOwn(IMAGES, extension) ? IMAGES[extension] : undefined;
  if (image !== undefined && isWhole)
    return { kind: "image", isWhole, blob: new Blob([bytes], { type: image }) };
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return { kind: "binary", isWhole };
  const text = new TextDecoder().decode(bytes);
  return { kind: extension === "json" && isWhole ? "json" : "text", isWhole, text };
}

async function readBeginning(
  response: Response,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isWhole: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined && length < PREVIEW_MAX_BYTES) {
    const { done, value } = await reader.read();
    if (done) return { bytes: joined(chunks, length), isWhole: true };
    chunks.push(value as Uint8Array<ArrayBuffer>);
    length += value.length;
  }
  await reader?.cancel();
  return { bytes: joined(chunks, length), isWhole: false };
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
