import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { accessesTable, type StoredAccess } from "../tables/accesses.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { granteeOf, newAccess, planAccess } from "./grants.ts";

/** Maximum number of accesses copied with a document. */
const ACCESSES_MAX = 5_000;

/**
 * Reads the accesses of all users but one, by document. Throws `bad_request` if there are more than 5,000. Reference
 * 3.4.
 */
export async function readAccessesOfOthers(
  deps: Pick<Ports, "tables">,
  documents: readonly StoredDocument[],
  user: string,
): Promise<ReadonlyMap<string, readonly StoredAccess[]>> {
  const count = documents.reduce((sum, { accesses }) => sum + accesses, 0);
  if (count > ACCESSES_MAX) {
    const message = `A copy is limited to ${ACCESSES_MAX} accesses.`;
    throw new ApiError("bad_request", message, { body: { with_accesses: [message] } });
  }
  const found = new Map<string, readonly StoredAccess[]>();
  for (const { id, accesses } of documents) {
    if (accesses === 0) continue;
    const rows = await readAll(deps, accessesTable, { pk: id });
    found.set(
      id,
      rows.filter((row) => row.user !== user),
    );
  }
  return found;
}

/** Copies an access to a detached document, whose item already counts it. */
export const planCopiedAccess = (copied: StoredAccess, document: string, since: string): Write[] =>
  planAccess(newAccess(document, granteeOf(copied), copied.role, since));
