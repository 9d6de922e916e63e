import * as z from "zod";
import { readAll } from "../../events/read-all.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { attachmentKey, attachmentsTable, documentAttachmentsTable } from "../tables/attachments.ts";

/** An attachment of a document in a list. */
export const attachmentRecord = z
  .object({
    key: z.string(),
    name: z.string().describe("Name of the file when it was uploaded"),
    content_type: z.string().describe("Recognized from the bytes"),
    bytes: z.int(),
    state: z.enum(["processing", "ready", "infected"]),
    finding: z.string().nullable().describe("What a scanner found in an infected file"),
    is_unsafe: z.boolean().describe("Its type is dangerous to open, or not the one of its extension"),
    is_referenced: z.boolean().describe("False if it is deleted soon, because nothing references it"),
    created_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Attachment" });
export type AttachmentRecord = z.infer<typeof attachmentRecord>;

/**
 * Lists the attachments of a document by key. Anyone who may read the document may read the list. Throws `not_found`,
 * `unauthorized`, `forbidden`.
 */
export async function listAttachments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  id: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly count: number; readonly results: AttachmentRecord[] }> {
  await authorize(deps, viewer, id, "media_check");
  const contained = await readAll(deps, documentAttachmentsTable, { pk: id });
  const page = contained.slice(offset, offset + limit);
  const stored = await deps.tables.batchGet(
    attachmentsTable,
    page.map(({ attachment }) => attachmentKey(attachment)),
  );
  const byKey = new Map(stored.map((one) => [one.pk, one]));
  const results = page.flatMap(({ attachment, unreferenced_since }): AttachmentRecord[] => {
    const found = byKey.get(attachment);
    if (found === undefined) return [];
    const { pk: key, name, type, bytes, state, finding = null, is_unsafe, created_at } = found;
    const is_referenced = unreferenced_since === undefined;
    return [{ key, name, content_type: type, bytes, state, finding, is_unsafe, is_referenced, created_at }];
  });
  return { count: contained.length, results };
}
