import type { TestDeps } from "./test-deps.ts";
import { TEST_TOKEN } from "./test-deps.ts";
import type { TestGateway } from "./test-gateway.ts";

const bytesOf = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))),
  );

/** A PNG image of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
export const PDF = bytesOf("%PDF-1.4\n%", [0xe2, 0xe3, 0xcf, 0xd3], "\n1 0 obj\n<<>>\nendobj\n");
export const GIF_WITH_SCRIPT = bytesOf("GIF89a/*", [1, 0, 1, 0, 0], "*/=1;<script>alert(1)</script>");
export const SVG_WITH_SCRIPT = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

export interface UploadOptions {
  readonly token?: string | null;
  readonly field?: string;
}

export interface Uploaded {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  readonly body: any;
  /** The key of the attachment; empty if it was refused. */
  readonly key: string;
}

/** Uploads a file as a browser's form does. */
export async function uploadFile(
  { url }: Pick<TestGateway, "url">,
  document: string,
  name: string,
  content: Uint8Array | string,
  { token = TEST_TOKEN, field = "file" }: UploadOptions = {},
): Promise<Uploaded> {
  const form = new FormData();
  form.append(field, new File([typeof content === "string" ? content : Buffer.from(content)], name));
  const response = await fetch(`${url}/api/v1.0/documents/${document}/attachment-upload/`, {
    method: "POST",
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    body: form,
  });
  const body = (await response.json()) as Uploaded["body"];
  const key = response.status === 201 ? (new URL(body.file, url).searchParams.get("key") ?? "") : "";
  return { status: response.status, body, key };
}

/** Requests an attachment from the gateway. */
export function getMedia(
  { url }: Pick<TestGateway, "url">,
  key: string,
  {
    method = "GET",
    token = TEST_TOKEN,
    headers = {},
  }: { method?: "GET" | "HEAD"; token?: string | null; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${url}/media/${key}`, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    redirect: "manual",
  });
}

/** Plain content that references attachments. */
export const contentWith = (...keys: readonly string[]): { readonly content: string } => ({
  content: Buffer.from(keys.map((key) => `![](/media/${key})`).join("\n")).toString("base64"),
});

/** Moves the clock beyond the delay of an update event and runs what is due. */
export async function settleEdits({ clock, tick }: Pick<TestDeps, "clock" | "tick">): Promise<void> {
  clock.advance(60_000);
  await tick();
}
