import { hash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import type { Converter } from "../../platform/converter.ts";
import type { Write } from "../../platform/tables.ts";
import { commitChange } from "../changes/commit.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import { type StoredVersion, versionBlob, versionKey, versionsTable } from "../tables/versions.ts";
import type { CompactDeps } from "./compact.ts";

export type ConvertDeps = CompactDeps & { readonly converter?: Converter | undefined };

/**
 * Replaces plain text by editor content, when the first editor opens it. Scripts write plain text, mostly Markdown, so
 * it is read as Markdown. The text stays available as a version. This begins a new generation and is not an edit: no
 * event is emitted. Throws `unavailable` if this installation has no converter, `bad_request` if the text cannot be
 * converted.
 */
export async function convertPlainContent(deps: ConvertDeps, id: string): Promise<void> {
  await commitChange(deps, async () => {
    const nothing = { writes: [], events: [], result: undefined };
    const document = await deps.tables.get(documentsTable, documentKey(id));
    const head = document?.content;
    if (document === undefined || head?.kind !== "plain") return nothing;
    const text = await deps.blobs.get(versionBlob(id, head.version));
    if (text === undefined)
      throw new Error(`the bytes of version ${head.version} of document ${id} are missing`);
    const bytes = await convert(deps, text);
    const version = deps.ids.ordered();
    await deps.blobs.put(versionBlob(id, version), bytes);
    return { ...nothing, writes: planVersion(deps, document, version, bytes) };
  });
}

async function convert({ converter }: ConvertDeps, bytes: Uint8Array): Promise<Uint8Array> {
  if (converter === undefined)
    throw new ApiError("unavailable", "Plain text cannot be opened in an editor in this installation.");
  const converted = await converter.convert({ from: "markdown", bytes, to: "yjs" });
  if (!converted.ok || typeof converted.value === "string")
    throw new ApiError("bad_request", "The plain text of this document cannot be opened in an editor.");
  return converted.value;
}

function planVersion(
  { clock }: ConvertDeps,
  { id, revision, generation = 0 }: StoredDocument,
  version: string,
  bytes: Uint8Array,
): Write[] {
  const at = new Date(clock.now()).toISOString();
  const stored = { etag: hash("md5", bytes), bytes: bytes.length, kind: "yjs" as const };
  const item: StoredVersion = { ...versionKey(id, version), ...stored, last_modified: at, author: null };
  return [
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: {
        set: { content: { version, ...stored, saved_at: at }, generation: generation + 1 },
        add: { revision: 1 },
        remove: ["has_log", "log_start"],
      },
      when: [["revision", "=", revision]],
    },
    { op: "put", table: versionsTable, item, when: [["pk", "missing"]] },
  ];
}
