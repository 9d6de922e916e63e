import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import { accessesTable, accessId, accessKey, type StoredAccess } from "../tables/accesses.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { invitationsTable, planInvitationRemoval } from "../tables/invitations.ts";
import type { ExtraUpdate } from "../tree/tree-writes.ts";
import { granteeOf, planAccess, updateRelation } from "./grants.ts";

/** The changes to a document's own accesses when it moves to another tree. */
export interface TreeChange {
  /** The document's accesses after the move. All others are removed, and so are its invitations. */
  readonly accesses: readonly StoredAccess[];
  readonly writes: readonly Write[];
  /** Update of the document's item, which counts its accesses. */
  readonly documentUpdate: ExtraUpdate;
}

/**
 * Removes the accesses and invitations of a document that moves to another tree. If it becomes a root or was one, the
 * owners of `formerRoot` become its owners. Throws `bad_request` if it would have no owner. Reference 3.3.
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
        return planAccess(access, [
          before === undefined ? ["pk", "missing"] : ["revision", "=", before.revision],
        ]);
      }),
      ...invited.flatMap(planInvitationRemoval),
    ],
    documentUpdate: {
      set: { accesses: newOwners.length, owners: newOwners.length },
      // Fails if an access was added or removed since they were read.
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

/**
 * Copies the access of an owner of the former root, with its creation time, so that the owner still sees earlier
 * versions.
 */
function inheritAccess(
  document: string,
  heir: StoredAccess,
  held: ReadonlyMap<string, StoredAccess>,
): StoredAccess {
  const id = accessId(document, granteeOf(heir));
  const revision = (held.get(id)?.revision ?? 0) + 1;
  return { ...heir, ...accessKey(document, id), id, document, revision };
}

/** Removes an access and its relation. */
export function planAccessRemoval(access: StoredAccess, when: readonly Condition[] = []): Write[] {
  const { document, id } = access;
  return [
    { op: "delete", table: accessesTable, key: accessKey(document, id), when },
    ...updateRelation(access, { set: { document }, remove: ["role", "since"] }),
  ];
}
