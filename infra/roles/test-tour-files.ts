import { randomUUID } from "node:crypto";
import { EXPORTS_QUEUE, type ExportMessage } from "../../lib/documents/exports/export-jobs.ts";
import { IMPORTS_QUEUE } from "../../lib/documents/imports/import-state.ts";
import { DEPTH_MAX } from "../../lib/documents/tables/documents.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { zipOf } from "../../lib/testing/test-imports.ts";
import type { Installation } from "./test-installation.ts";
import { type Client, createClient, waitUntil } from "./test-tour-client.ts";

const BASE = "/api/v1.0";
const DOCUMENTS = `${BASE}/documents`;
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PAGE = `# Page\n\n![pixel](data:image/png;base64,${PIXEL.toString("base64")})\n`;
/** More words than one transaction of the full-text index writes. */
const MANY_WORDS = Array.from({ length: 150 }, (_, at) => `word${at}`).join(" ");

interface Import {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
}

interface Export extends Import {
  readonly url: string | null;
}

/**
 * Converts, imports and exports files, uses the AI functions and the full-text index, and leaves imports for the
 * consumers. Returns a function that waits for them.
 */
export async function tourFiles(
  owner: Client,
  { url, collaborationKey, outside, call }: Installation,
): Promise<() => Promise<void>> {
  const { token } = await owner.send<{ token: string }>("POST", `${BASE}/access-tokens`, {
    email: "files@example.org",
  });
  const client = owner.withToken(token);
  const create = async (parent?: string): Promise<string> =>
    (
      await client.send<{ id: string }>(
        "POST",
        parent === undefined ? DOCUMENTS : `${DOCUMENTS}/${parent}/children`,
        { title: "Files" },
      )
    ).id;
  await createClient({ url, token: collaborationKey }).file("POST", "/api/convert", "text");

  const [home, gone, edited] = [await create(), await create(), await create()];
  await useAi(client, home);
  await client.form(DOCUMENTS, new File([PAGE], "page.md"));
  await importTooDeep(client, create);
  const archive = new File([Buffer.from(await zipOf({ "Page.md": PAGE }))], "Pages.zip");
  const done = await client.form<Import>(`${DOCUMENTS}/${home}/children`, archive);
  // An import whose parent is deleted meanwhile is undone.
  const undone = await client.form<Import>(`${DOCUMENTS}/${gone}/children`, archive);
  await client.delete(`${DOCUMENTS}/${gone}`);
  const at = outside.clock.now();
  const due = { sk: "timer", due: "due", dueAt: new Date(at).toISOString(), at };
  await outside.tables.write(
    [
      { pk: "imports:tour", queue: IMPORTS_QUEUE, body: JSON.stringify({ import_id: randomUUID() }) },
      {
        pk: "exports:tour",
        queue: EXPORTS_QUEUE,
        body: JSON.stringify({ export_id: randomUUID(), expired: true } satisfies ExportMessage),
      },
    ].map((timer) => ({ op: "put", table: timersTable, item: { ...timer, ...due } }) as const),
  );

  const exported = [
    await client.send<Export>("GET", `${DOCUMENTS}/${home}/export?with_descendants=true`),
    await client.send<Export>("GET", `${BASE}/users/me/export`),
  ];
  await call("HeadMediaFunction", headOf(`/media/${home}/attachments/${randomUUID()}.png`, token));
  const save = (text: string): Promise<void> =>
    client.send("PATCH", `${DOCUMENTS}/${edited}/content`, { content: Buffer.from(text).toString("base64") });
  await save(MANY_WORDS);
  return async () => {
    const find = async (word: string) =>
      (await client.send<{ count: number }>("GET", `${DOCUMENTS}/search?q=${word}`)).count;
    await waitUntil("the words of a document", async () => (await find("word149")) === 1);
    await save("few");
    await waitUntil("the words of an edit", async () => (await find("few")) === 1);
    for (const { id } of exported) await waitForExport(client, id);
    await exportFiles(client, home);
    for (const { id, end } of [
      { id: done.id, end: "succeeded" },
      { id: undone.id, end: "failed" },
    ])
      await waitUntil(`an import that has ${end}`, async () => {
        const { status, error } = await client.send<Import>("GET", `${BASE}/imports/${id}`);
        if (["succeeded", "failed"].includes(status) && status !== end)
          throw new Error(`the import has ${status}: ${error}`);
        return status === end;
      });
  };
}

/** Waits until the file of an export can be read. */
async function waitForExport(client: Client, id: string): Promise<void> {
  let link = "";
  await waitUntil("an export", async () => {
    const { status, url, error } = await client.send<Export>("GET", `${BASE}/exports/${id}`);
    if (status === "failed") throw new Error(`the export has failed: ${error}`);
    link = url ?? "";
    return status === "done";
  });
  const { pathname, search } = new URL(link);
  // Redirected to the bucket.
  const read = await client.status(`${pathname}${search}`);
  if (read !== 200) throw new Error(`the file of an export returned ${read}`);
}

/** Documents as files of every kind. */
async function exportFiles(client: Client, document: string): Promise<void> {
  for (const format of ["pdf", "docx", "json", "yjs"]) {
    const status = await client.status(
      `${DOCUMENTS}/${document}/export?export_format=${format}&comments=true`,
    );
    if (status !== 200) throw new Error(`the export as ${format} returned ${status}`);
  }
}

/** No model responds: the requests are counted before. */
async function useAi(client: Client, document: string): Promise<void> {
  const base = `${DOCUMENTS}/${document}`;
  const said = { id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] };
  for (const [path, body] of [
    ["ai-transform", { text: "text", action: "correct" }],
    ["ai-translate", { text: "text", language: "fr" }],
    ["ai-proxy", { id: "chat", trigger: "submit-message", messages: [said] }],
  ] as const) {
    const status = await client.status(`${base}/${path}`, body);
    if ([401, 403, 404].includes(status)) throw new Error(`${path} returned ${status}`);
  }
}

/** An import that fails after its document was written. */
async function importTooDeep(client: Client, create: (parent?: string) => Promise<string>): Promise<void> {
  // With those of the tree, more than a search compares without the index.
  await Promise.all(Array.from({ length: 10 }, () => create()));
  let parent = await create();
  for (let depth = 1; depth < DEPTH_MAX; depth += 1) parent = await create(parent);
  const imported = client.form(`${DOCUMENTS}/${parent}/children`, new File([PAGE], "deep.md"));
  const failure = await imported.then(
    () => undefined,
    (error: unknown) => String(error),
  );
  if (failure?.includes("answered 400") !== true) throw new Error(`importing too deep: ${failure}`);
}

/** The event of a HEAD request, which the local gateway passes to the function of GET. */
const headOf = (path: string, token: string) => ({
  resource: "/media/{key+}",
  path,
  httpMethod: "HEAD",
  headers: { authorization: `Bearer ${token}`, host: "127.0.0.1" },
  queryStringParameters: null,
  pathParameters: { key: path.replace("/media/", "") },
  body: null,
  isBase64Encoded: false,
  requestContext: { requestId: randomUUID(), identity: { sourceIp: "127.0.0.1" } },
});
