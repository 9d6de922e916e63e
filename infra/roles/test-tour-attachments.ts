import * as Y from "yjs";
import type { Deps } from "../../lib/app/compose.ts";
import { DOCUMENT_UPDATED_QUEUE } from "../../lib/documents/events/updated-event.ts";
import { containedKey, documentAttachmentsTable } from "../../lib/documents/tables/attachments.ts";
import { UPLOADS_PREFIX } from "../../lib/platform/blobs.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { type Client, waitUntil } from "./test-tour-client.ts";

const BASE = "/api/v1.0";
const DOCUMENTS = `${BASE}/documents`;

/**
 * Uploads, reads, shares and rejects attachments, and leaves work for the consumers. Returns a function that waits for
 * it.
 */
export async function tourAttachments(owner: Client, deps: Deps): Promise<() => Promise<void>> {
  // The author of an edit: the owner's user is removed before the edit is compacted.
  const author = await owner.send<{ data: { user: string }; token: string }>(
    "POST",
    `${BASE}/access-tokens`,
    {
      email: "attachments@example.org",
    },
  );
  const client = owner.withToken(author.token);
  const create = async (): Promise<string> => (await client.send<{ id: string }>("POST", DOCUMENTS, {})).id;
  const upload = async (document: string): Promise<string> =>
    keyOf(await client.form(`${DOCUMENTS}/${document}/attachment-upload`, new File(["text"], "a.txt")));
  const [home, other, third, edited, dropped] = await Promise.all(Array.from({ length: 5 }, create));
  if (!home || !other || !third || !edited || !dropped) throw new Error("documents were not created");
  const key = await upload(home);
  await client.send("GET", `${DOCUMENTS}/${home}/media-check?key=${encodeURIComponent(key)}`);
  await client.send("GET", `${DOCUMENTS}/${home}/attachments`);
  await client.file("GET", `/media/${key}`);
  await client.file("HEAD", `/media/${key}`);
  await client.status(`${DOCUMENTS}/${home}/cors-proxy?url=http://127.0.0.1/`);
  // Methods that these paths do not have.
  for (const path of ["attachments", "media-check"]) await client.status(`${DOCUMENTS}/${home}/${path}`, {});
  await uploadDirectly(client, deps, { document: home, user: author.data.user });
  const verdict = { key: await upload(home), is_safe: false };
  await owner.send("POST", `${DOCUMENTS}/attachment-verdict`, verdict);

  const save = (document: string, text: string): Promise<void> =>
    client.send("PATCH", `${DOCUMENTS}/${document}/content`, {
      content: Buffer.from(`${text} /media/${key}`).toString("base64"),
    });
  await save(other, "first");
  const marked = containedKey(other, key);
  await deps.tables.update(documentAttachmentsTable, marked, { set: { unreferenced_since: 1 } });
  await save(other, "second");
  // From now on, only the index names a document that contains it.
  await deps.tables.write([{ op: "delete", table: documentAttachmentsTable, key: containedKey(home, key) }]);
  await save(third, "third");

  await client.send("POST", `${DOCUMENTS}/${edited}/updates`, { updates: [imageOf(key)] });
  const asked = JSON.stringify({ document_id: edited });
  await deps.queues.send(DOCUMENT_UPDATED_QUEUE, [{ body: asked }]);
  const unused = containedKey(dropped, await upload(dropped));
  await deps.tables.update(documentAttachmentsTable, unused, { set: { unreferenced_since: 1 } });
  const at = deps.clock.now();
  const due = { due: "due", dueAt: new Date(at).toISOString(), at, queue: "attachments" };
  const body = JSON.stringify({ document_id: dropped });
  const timer = { pk: "attachments:tour", sk: "timer", ...due, body };
  await deps.tables.write([{ op: "put", table: timersTable, item: timer }]);

  const read = (document: string, one: string) =>
    deps.tables.get(documentAttachmentsTable, containedKey(document, one));
  return async () => {
    await waitUntil("the attachment of an edit", async () => {
      const contained = await read(edited, key);
      return contained !== undefined && contained.unreferenced_since === undefined;
    });
    await waitUntil(
      "the deletion of an attachment",
      async () => (await read(dropped, unused.sk)) === undefined,
    );
  };
}

async function uploadDirectly(
  client: Client,
  deps: Deps,
  { document, user }: { readonly document: string; readonly user: string },
): Promise<void> {
  const uploads = `${DOCUMENTS}/${document}/attachment-uploads`;
  const { id } = await client.send<{ id: string }>("POST", uploads, { bytes: 4 });
  await deps.blobs.put(`${UPLOADS_PREFIX}documents/${document}/${user}/${id}`, "text");
  await client.send("POST", `${uploads}/${id}/finish`, { name: "b.txt" });
}

const keyOf = ({ file }: { readonly file: string }): string =>
  new URL(file, "http://host").searchParams.get("key") ?? "";

function imageOf(key: string): string {
  const document = new Y.Doc();
  const image = new Y.XmlElement("image");
  document.getXmlFragment("document-store").insert(0, [image]);
  image.setAttribute("url", `/media/${key}`);
  return Buffer.from(Y.encodeStateAsUpdate(document)).toString("base64");
}
