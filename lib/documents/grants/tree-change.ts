import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition, Write } from "../../platform/tables.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
  type StoredAccess,
} from "../tables/accesses.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { invitationsTable, planInvitationRemoval } from "../tables/invitations.ts";
import type { ExtraUpdate } from "../tree/tree-writes.ts";

/** What becomes of the rights that lie on a document itself, when it comes to lie in another tree. */
export interface TreeChange {
  /** The accesses that it has from then on; all others and its invitations end. */
  readonly accesses: readonly StoredAccess[];
  readonly writes: readonly Write[];
  /** For the document's own item, which counts its accesses. */
  readonly documentUpdate: ExtraUpdate;
}

/**
 * Takes away what is granted on a document itself: where it goes, others decide. Where it becomes a root, or was one,
 * the owners of its `formerRoot` own it. Throws `bad_request` where nobody would. Reference 3.3.
 */
export async function planTreeChange(
  deps: Pick<Ports, "tables">,
  document: StoredDocument,
  formerRoot?: StoredDocument,
): Promise<TreeChange> {
  const [own, invited] = await Promise.all([
    readAccesses(deps, document),
    readAll(deps, invitationsTable, { pk: document.id }),
  ]);
  const newOwners = formerRoot === undefined ? [] : await readOwners(deps, formerRoot);
  if (formerRoot !== undefined && newOwners.length === 0) {
    const message = "The document would have no owner.";
    throw new ApiError("bad_request", message, { body: { target_document_id: message } });
  }
  const held = new Map(own.map((access) => [access.sk, access]));
  const accesses = newOwners.map((owner) => inheritAccess(document.id, owner, held));
  const named = new Set(accesses.map(({ sk }) => sk));
  return {
    accesses,
    writes: [
      ...own
        .filter(({ sk }) => !named.has(sk))
        .flatMap((access) => planAccessRemoval(access, [["revision", "=", access.revision]])),
      ...accesses.flatMap((access) => {
        const before = held.get(access.sk);
        return planInheritedAccess(access, [
          before === undefined ? ["pk", "missing"] : ["revision", "=", before.revision],
        ]);
      }),
      ...invited.flatMap(planInvitationRemoval),
    ],
    documentUpdate: {
      set: { accesses: newOwners.length, owners: newOwners.length },
      // Who came or went since they were read is one more or less, or another revision of a row.
      when: [
        ["accesses", "=", document.accesses],
        ["owners", "=", document.owners],
        ["pending_move", "missing"],
      ],
    },
  };
}

const readAccesses = (
  deps: Pick<Ports, "tables">,
  { id, accesses }: StoredDocument,
): Promise<StoredAccess[]> =>
  accesses === 0 ? Promise.resolve([]) : readAll(deps, accessesTable, { pk: id });

async function readOwners(deps: Pick<Ports, "tables">, root: StoredDocument): Promise<StoredAccess[]> {
  return (await readAccesses(deps, root)).filter(({ role }) => role === "owner");
}

/** The access of an owner of the former root: what they have seen of it till now they see on. */
function inheritAccess(
  document: string,
  heir: StoredAccess,
  held: ReadonlyMap<string, StoredAccess>,
): StoredAccess {
  const { user, team } = heir;
  const id = accessId(document, user === null ? { team: team ?? "" } : { user });
  const revision = (held.get(id)?.revision ?? 0) + 1;
  return { ...heir, ...accessKey(document, id), id, document, revision };
}

/** Ends an access. */
export function planAccessRemoval(
  { document, id, user }: StoredAccess,
  when: readonly Condition[] = [],
): Write[] {
  return [
    { op: "delete", table: accessesTable, key: accessKey(document, id), when },
    ...updateRelation(user, document, { set: { document }, remove: ["role", "since"] }),
  ];
}

/** Makes an owner of a document. */
export function planInheritedAccess(access: StoredAccess, when: readonly Condition[] = []): Write[] {
  const { user, document, role, created_at: since } = access;
  return [
    { op: "put", table: accessesTable, item: access, when },
    ...updateRelation(user, document, { set: { document, role, since } }),
  ];
}

/** Keeps what a document is to a person in step with their access; a team's is no person's. */
function updateRelation(user: string | null, document: string, change: Change): Write[] {
  if (user === null) return [];
  return [{ op: "update", table: relationsTable, key: relationKey(user, document), change }];
}
