import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Change, Condition, Write } from "../../platform/tables.ts";
import { planUninvite } from "../sharing/invitations.ts";
import { invitationsTable } from "../sharing/invitations-table.ts";
import type { Along } from "../tree/place.ts";
import type { StoredDocument } from "../tree/table.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
  type StoredAccess,
} from "./table.ts";

/** What becomes of the rights that lie on a document itself, when it comes to lie in another tree. */
export interface RightsMoved {
  readonly writes: readonly Write[];
  /** For the document's own item, which counts its accesses. */
  readonly along: Along;
}

/**
 * Takes away what is granted on a document itself: where it goes, others decide. Where it becomes a root, or was one,
 * the owners of its `formerRoot` own it. Throws `bad_request` where nobody would. Reference 3.3.
 */
export async function planChangeOfTree(
  deps: Pick<Ports, "tables">,
  document: StoredDocument,
  formerRoot?: StoredDocument,
): Promise<RightsMoved> {
  const [own, invited] = await Promise.all([
    accessesOf(deps, document),
    readAll(deps, invitationsTable, { pk: document.id }),
  ]);
  const heirs = formerRoot === undefined ? [] : await ownersOf(deps, formerRoot);
  if (formerRoot !== undefined && heirs.length === 0) {
    const message = "The document would have no owner.";
    throw new ApiError("bad_request", message, { body: { target_document_id: message } });
  }
  const held = new Map(own.map((access) => [nameOf(access), access]));
  const named = new Set(heirs.map(nameOf));
  return {
    writes: [
      ...own.filter((access) => !named.has(nameOf(access))).flatMap(revoke),
      ...heirs.flatMap((heir) => bequeath(document.id, heir, held.get(nameOf(heir)))),
      ...invited.flatMap(planUninvite),
    ],
    along: {
      set: { accesses: heirs.length, owners: heirs.length },
      // Who came or went since they were read is one more or less, or another revision of a row.
      when: [
        ["accesses", "=", document.accesses],
        ["owners", "=", document.owners],
      ],
    },
  };
}

const accessesOf = (
  deps: Pick<Ports, "tables">,
  { id, accesses }: StoredDocument,
): Promise<StoredAccess[]> =>
  accesses === 0 ? Promise.resolve([]) : readAll(deps, accessesTable, { pk: id });

async function ownersOf(deps: Pick<Ports, "tables">, root: StoredDocument): Promise<StoredAccess[]> {
  return (await accessesOf(deps, root)).filter(({ role }) => role === "owner");
}

/** Whose an access is, on whatever document. */
const nameOf = ({ user, team }: StoredAccess): string => (user === null ? `team ${team}` : `user ${user}`);

function revoke({ document, id, user, revision }: StoredAccess): Write[] {
  const table = accessesTable;
  return [
    { op: "delete", table, key: accessKey(document, id), when: [["revision", "=", revision]] },
    ...relate(user, document, { set: { document }, remove: ["role", "since"] }),
  ];
}

/** The same owner on another document: what they have seen of it till now they see on. */
function bequeath(document: string, heir: StoredAccess, held: StoredAccess | undefined): Write[] {
  const { user, team, created_at: since } = heir;
  const id = accessId(document, user === null ? { team: team ?? "" } : { user });
  const revision = (held?.revision ?? 0) + 1;
  const item: StoredAccess = { ...heir, ...accessKey(document, id), id, document, revision };
  const when: Condition = held === undefined ? ["pk", "missing"] : ["revision", "=", held.revision];
  return [
    { op: "put", table: accessesTable, item, when: [when] },
    ...relate(user, document, { set: { document, role: "owner", since } }),
  ];
}

/** Keeps what a document is to a person in step with their access; a team's is no person's. */
function relate(user: string | null, document: string, change: Change): Write[] {
  if (user === null) return [];
  return [{ op: "update", table: relationsTable, key: relationKey(user, document), change }];
}
