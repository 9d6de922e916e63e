import { readAll } from "../../events/read-all.ts";
import {
  type AuthorizationDeps,
  type DocumentAccess,
  resolveAccesses,
} from "../authorization/document-access.ts";
import { relationsTable } from "../tables/accesses.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";
import { commentsTable } from "../tables/threads.ts";
import type { StoredUser } from "../tables/users.ts";
import { toUser } from "../users/record.ts";

/** The data of a user: the topmost documents that they own, and JSON files about everything else. */
export interface OwnData {
  readonly roots: readonly DocumentAccess[];
  readonly files: ReadonlyMap<string, string>;
}

/** Collects the documents that a user owns, their accesses, their comments, and what is stored of them. */
export async function readOwnData(deps: AuthorizationDeps, user: StoredUser): Promise<OwnData> {
  const relations = await readAll(deps, relationsTable, { pk: user.id });
  const documents = await deps.tables.batchGet(
    documentsTable,
    relations.map(({ document }) => documentKey(document)),
  );
  const { accesses } = await resolveAccesses(deps, user, documents);
  const byId = new Map(accesses.map((access) => [access.document.id, access]));
  const owned = accesses.filter(
    ({ relation, deletedAt, abilities }) =>
      relation?.role === "owner" && deletedAt === null && abilities.content_retrieve,
  );
  const ownedIds = new Set(owned.map(({ document }) => document.id));
  const roots = owned.filter(({ ancestors }) => !ancestors.some(({ id }) => ownedIds.has(id)));
  const readable = accesses.filter(({ abilities, deletedAt }) => abilities.retrieve && deletedAt === null);
  const comments: unknown[] = [];
  for (const { document } of readable)
    for (const comment of await readAll(deps, commentsTable, { pk: document.id }))
      if (comment.user === user.id) {
        const { id, thread, created_at, updated_at, body } = comment;
        comments.push({ id, document: document.id, thread, created_at, updated_at, body: JSON.parse(body) });
      }
  const own = relations.map(({ document, role = null, since = null, favorite = false, masked = false }) => {
    const access = byId.get(document);
    const title = access?.abilities.retrieve === true ? access.document.title : null;
    return { document, title, role, since, favorite, masked };
  });
  return {
    roots,
    files: new Map([
      ["user.json", json(toUser(user))],
      ["accesses.json", json(own)],
      ["comments.json", json(comments)],
    ]),
  };
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
