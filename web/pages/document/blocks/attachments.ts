import { dataOf } from "../../../../client/api.ts";
import { api } from "../../../api/client.ts";
import { isNotFound } from "../../../api/failures.ts";
import { parseUrl } from "../../../api/parse-url.ts";

const KEY = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/attachments\/[\w.-]{1,100}$/i;
/** Time between two questions whether a file is available, milliseconds. */
const POLL_MS = 2_000;
const POLLS_MAX = 150;

/** The key of the attachment that a URL names; undefined for any other URL. */
export function attachmentKeyOf(url: string): string | undefined {
  const parsed = parseUrl(url, location.origin);
  if (parsed?.origin !== location.origin || !parsed.pathname.startsWith("/media/")) return undefined;
  const key = parsed.pathname.slice("/media/".length);
  return KEY.test(key) ? key : undefined;
}

/** Whether the service recognized a file as one that can do harm. */
export const isUnsafe = (url: string): boolean => /-unsafe\.\w+$/.test(attachmentKeyOf(url) ?? "");

/** A URL that may be followed: of the web, or of this server. Undefined for others, such as scripts. */
export function shownUrl(url: string): string | undefined {
  const parsed = url === "" ? undefined : parseUrl(url, location.origin);
  return parsed?.protocol === "http:" || parsed?.protocol === "https:" ? parsed.href : undefined;
}

/** Where a file is loaded from: the page may load files of this server only, which fetches images of others. */
export function loadedUrl(document: string, url: string): string {
  if (/^(?:data:image\/|blob:)/.test(url)) return url;
  const safe = shownUrl(url);
  if (safe === undefined) return "";
  const isOwn = new URL(safe).origin === location.origin;
  return isOwn ? safe : `/api/v1.0/documents/${document}/cors-proxy/?url=${encodeURIComponent(safe)}`;
}

/** Stores a file as an attachment of a document, and returns its URL. Rejects with an ApiFailure. */
export async function uploadFile(id: string, file: File): Promise<string> {
  const body = new FormData();
  body.append("file", file);
  const { file: check } = await dataOf(
    api.POST("/api/v1.0/documents/{id}/attachment-upload", {
      params: { path: { id } },
      body: body as never,
      bodySerializer: (form: unknown) => form as FormData,
    }),
  );
  return `/media/${new URL(check, location.origin).searchParams.get("key") ?? ""}`;
}

/** The states of an attachment until it is available or known to be missing. */
export async function* mediaState(
  key: string,
  signal: AbortSignal,
): AsyncGenerator<"processing" | "ready" | "missing"> {
  const id = key.slice(0, key.indexOf("/"));
  for (let poll = 0; poll < POLLS_MAX && !signal.aborted; poll += 1) {
    const state = await readState(id, key, signal);
    if (signal.aborted) return;
    yield state;
    if (state !== "processing") return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function readState(
  id: string,
  key: string,
  signal: AbortSignal,
): Promise<"processing" | "ready" | "missing"> {
  try {
    const params = { path: { id }, query: { key } };
    return (await dataOf(api.GET("/api/v1.0/documents/{id}/media-check", { params, signal }))).status;
  } catch (error) {
    // Without an answer it is unknown. Without access to the document of the file, it may still be readable.
    return isNotFound(error) ? "missing" : "ready";
  }
}
