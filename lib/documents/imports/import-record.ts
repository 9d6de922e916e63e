import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import { documentNotFound } from "../authorization/document-access.ts";
import { importKey, importsTable, type StoredImport } from "../tables/imports.ts";
import type { StoredUser } from "../tables/users.ts";

/** The import of an archive or a large file as returned by the API. */
export const importRecord = z
  .object({
    id: z.string(),
    name: z.string().describe("Name of the file"),
    status: z.enum(["pending", "running", "succeeded", "failed"]),
    progress: z.number().describe("From 0 to 1"),
    document: z.string().nullable().describe("Id of the imported document, once it exists"),
    skipped: z.array(z.string()).describe("What the file contains that was not imported"),
    error: z.string().nullable().describe("Why the import failed; nothing was imported then"),
    created_at: z.string(),
  })
  .meta({ id: "DocumentImport" });
export type ImportRecord = z.infer<typeof importRecord>;

export function toImportRecord(stored: StoredImport): ImportRecord {
  const { id, name, status, progress, document, skipped, error, created_at } = stored;
  const isVisible = status === "attached" || status === "succeeded";
  return {
    id,
    name,
    status: status === "attached" ? "running" : status,
    progress,
    document: isVisible ? document : null,
    skipped: [...skipped],
    error: error ?? null,
    created_at,
  };
}

/** Reads an import of a user. Throws `not_found` for those of others. */
export async function readImport(
  { tables }: Pick<Ports, "tables">,
  user: StoredUser,
  id: string,
): Promise<StoredImport> {
  const stored = await tables.get(importsTable, importKey(id));
  if (stored === undefined || stored.user !== user.id || !stored.is_job) throw documentNotFound();
  return stored;
}
