import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { accessesTable, relationsTable } from "./table.ts";

/** What somebody has documents for is read so far, then the latest of them that they have an access to are looked at. */
const RELATIONS_MAX = 1_000;
const DOCUMENTS_MAX = 100;
/** Accesses of each document that are looked at. */
const ACCESSES_MAX = 200;

/** Who has an access to a document beside somebody, and since when the latest of those is. */
export async function sharingWith(
  deps: Pick<Ports, "tables">,
  user: string,
): Promise<ReadonlyMap<string, string>> {
  const relations = await readAll(deps, relationsTable, { pk: user }, RELATIONS_MAX);
  const documents = relations
    .filter(({ role }) => role !== undefined)
    .toSorted((one, other) => ((one.since ?? "") > (other.since ?? "") ? -1 : 1))
    .slice(0, DOCUMENTS_MAX);
  const latest = new Map<string, string>();
  await Promise.all(
    documents.map(async ({ document }) => {
      for (const access of await readAll(deps, accessesTable, { pk: document }, ACCESSES_MAX)) {
        if (access.user === null) continue;
        const known = latest.get(access.user);
        if (known === undefined || known < access.created_at) latest.set(access.user, access.created_at);
      }
    }),
  );
  return latest;
}

/** Users who have an access to the document itself. */
export async function usersWithAccess(
  deps: Pick<Ports, "tables">,
  document: string,
): Promise<ReadonlySet<string>> {
  const accesses = await readAll(deps, accessesTable, { pk: document });
  return new Set(accesses.flatMap(({ user }) => (user === null ? [] : [user])));
}
