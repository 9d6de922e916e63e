import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../errors.ts";
import type { Conversion } from "../../platform/converter.ts";
import type { ConvertDeps } from "./convert-file.ts";

type Input = "markdown" | "yjs" | "blocks";
type Output = "yjs" | "markdown" | "html" | "json";

const INPUTS: Readonly<Record<string, Input>> = {
  "": "markdown",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "application/x-www-form-urlencoded": "markdown",
  "application/vnd.yjs.doc": "yjs",
  "application/octet-stream": "yjs",
  "application/vnd.blocknote+json": "blocks",
};
const OUTPUTS: Readonly<Record<string, Output>> = {
  "application/vnd.yjs.doc": "yjs",
  "application/octet-stream": "yjs",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/html": "html",
  "application/vnd.blocknote+json": "json",
  "application/json": "json",
};
export const CONVERTED_TYPES: readonly string[] = Object.keys(OUTPUTS);
export const CONVERTIBLE_TYPES: readonly string[] = Object.keys(INPUTS).filter((type) => type !== "");

/** Throws `unauthorized` unless the header contains the key, with or without `Bearer`. Takes constant time. */
export function requireConversionKey(key: string | undefined, header: string | undefined): void {
  const sent = digest((header ?? "").replace(/^Bearer /i, ""));
  if (key === undefined || !timingSafeEqual(digest(key), sent))
    throw new ApiError("unauthorized", "Unauthorized: Invalid API Key");
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** The result of a conversion with its content type, or why there is none. */
export type ConvertedContent =
  | { readonly type: string; readonly content: string | Uint8Array }
  | { readonly status: 400 | 406 | 415; readonly error: string };

/** Converts content as the conversion service of the reference does. Throws `unavailable`. Reference 5.1. */
export async function convertContent(
  { converter }: ConvertDeps,
  bytes: Uint8Array,
  { contentType, accept }: { readonly contentType: string; readonly accept: string | undefined },
): Promise<ConvertedContent> {
  if (bytes.length === 0) return { status: 400, error: "Invalid request: missing content" };
  const from = find(INPUTS, essenceOf(contentType));
  if (from === undefined) return { status: 415, error: "Unsupported Content-Type" };
  const asked = essenceOf(accept ?? "");
  const type = asked === "" || asked === "*/*" ? "application/vnd.yjs.doc" : asked;
  const to = find(OUTPUTS, type);
  if (to === undefined) return { status: 406, error: "Unsupported format" };
  // A conversion would only write the state again.
  const isSame = from === "yjs" && to === "yjs";
  if (converter === undefined)
    throw new ApiError(
      "unavailable",
      "This installation cannot convert content. Run the conversion service on a server",
    );
  const outcome = await converter.convert(
    (isSame ? { from, to, bytes, urls: {} } : { from, to, bytes }) as Conversion,
  );
  return outcome.ok ? { type, content: outcome.value } : { status: 400, error: "Invalid content" };
}

const find = <Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const essenceOf = (type: string): string => (type.split(";", 1)[0] ?? "").trim().toLowerCase();
