import { readAll } from "../../events/read-all.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { planFreed } from "../media/quotas.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  documentAttachmentsTable,
} from "../tables/attachments.ts";
import {
  childrenOf,
  childrenTable,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../tables/documents.ts";
import type { StoredImport } from "../tables/imports.ts";
import { versionsTable } from "../tables/versions.ts";
import { DETACHED_AT } from "../tree/tree-writes.ts";

type DiscardDeps = Pick<Ports, "tables" | "blobs">;

/** Deletions of one transaction. */
const DELETED_AT_ONCE = 90;
const DOCUMENTS_AT_ONCE = 8;

/** The id of a document of an import, by its position among them: the first one is their root. */
export const importedId = (
  { id, attempt, document }: Pick<StoredImport, "id" | "attempt" | "document">,
  at: number,
): string => (at === 0 ? document : derivedId(id, String(attempt), String(at)));

/** Deletes everything that an attempt of an import has written, unless its documents are visible. May be repeated. */
export async function discardImport(deps: DiscardDeps, stored: StoredImport): Promise<void> {
  const root = await deps.tables.get(documentsTable, documentKey(stored.document));
  if (root !== undefined && root.deleted_at !== DETACHED_AT) return;
  // The root last: until then, its descendants count as deleted.
  for (let end = stored.documents; end > 0; end -= DOCUMENTS_AT_ONCE) {
    const start = Math.max(0, end - DOCUMENTS_AT_ONCE);
    const ids = Array.from({ length: end - start }, (_, at) => importedId(stored, start + at));
    await Promise.all(ids.map((id) => discardDocument(deps, id)));
  }
}

async function discardDocument(deps: DiscardDeps, id: string): Promise<void> {
  const { tables, blobs } = deps;
  const [document, contained, versions, files, contents] = await Promise.all([
    tables.get(documentsTable, documentKey(id)),
    readAll(deps, documentAttachmentsTable, { pk: id }),
    readAll(deps, versionsTable, { pk: id }),
    blobs.list(attachmentBlob(`${id}/`)),
    blobs.list(`documents/${id}/`),
  ]);
  const own = contained.filter(({ attachment }) => attachment.startsWith(`${id}/`));
  for (const { pk, sk, attachment } of own) {
    const key = attachmentKey(attachment);
    const stored = await tables.get(attachmentsTable, key);
    await tables.write([
      { op: "delete", table: documentAttachmentsTable, key: { pk, sk } },
      ...(stored === undefined
        ? []
        : [
            { op: "delete", table: attachmentsTable, key, when: [["pk", "exists"]] } as const,
            ...planFreed(id, stored.bytes),
          ]),
    ]);
  }
  const rest: Write[] = [
    ...contained
      .filter((one) => !own.includes(one))
      .map(({ pk, sk }): Write => ({ op: "delete", table: documentAttachmentsTable, key: { pk, sk } })),
    ...versions.map(({ pk, sk }): Write => ({ op: "delete", table: versionsTable, key: { pk, sk } })),
    ...(document === undefined ? [] : planRemoved(document)),
  ];
  for (let at = 0; at < rest.length; at += DELETED_AT_ONCE)
    await tables.write(rest.slice(at, at + DELETED_AT_ONCE));
  await blobs.delete([...files, ...contents]);
}

function planRemoved({ id, parent, order }: StoredDocument): Write[] {
  const child = { pk: childrenOf(parent), sk: order };
  return [
    // The root of a detached tree is nobody's child.
    ...(parent === null ? [] : [{ op: "delete", table: childrenTable, key: child } as const]),
    { op: "delete", table: documentsTable, key: documentKey(id) },
  ];
}
