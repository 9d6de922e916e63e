import type { Link } from "../documents/access/links.ts";
import type { Role } from "../documents/access/roles.ts";
import {
  accessesTable,
  accessId,
  accessKey,
  relationKey,
  relationsTable,
} from "../documents/tables/accesses.ts";
import {
  childrenOf,
  childrenTable,
  deletedChildrenOf,
  documentKey,
  documentsTable,
  type StoredDocument,
} from "../documents/tables/documents.ts";
import { initialOrders } from "../documents/tree/siblings.ts";
import type { Write } from "../platform/tables.ts";
import type { TestDeps } from "./test-deps.ts";
import { contentHead, planRecords, type RecordKind, storeBlobs } from "./test-document-records.ts";
import { createUser, type TestUser, writeRows } from "./test-documents.ts";
import {
  CALLER_NAMES,
  type Caller,
  type DocumentState,
  type Situation,
  situationName,
  standingOf,
} from "./test-situations.ts";

/** `guest` is a commenter of every fixture document itself, at any position, and sends no requests. */
export type Participant = Caller | "guest";

/** Documents in every situation, and users who send requests. */
export interface DocumentFixtures {
  /** All except the anonymous one. */
  readonly users: ReadonlyMap<Participant, TestUser>;
  /** A document that every administrator may move documents to. */
  readonly moveTarget: string;
  /** Ids of the moveTarget and of all documents that `shared` has created, with their parents. */
  readonly documents: ReadonlySet<string>;
  /** The document of a situation that all callers share, with records of every kind. */
  getShared(situation: Situation): Promise<string>;
  /** A document of one situation and caller, with only the given records. */
  createOwn(situation: Situation, records?: readonly RecordKind[]): Promise<string>;
}

/** Maximum number of documents: each needs an order key. */
const DOCUMENTS_MAX = 10_000;
const LONG_AGO_MS = 100 * 24 * 60 * 60 * 1000;
const ALL_KINDS: readonly RecordKind[] = ["content", "threads", "sharing"];

export async function createFixtures({ deps }: Pick<TestDeps, "deps">): Promise<DocumentFixtures> {
  const users = new Map<Participant, TestUser>();
  for (const participant of [...CALLER_NAMES, "guest"] as const)
    if (participant !== "anonymous") users.set(participant, await createUser(deps, participant));
  const idOf = (participant: Participant): string => users.get(participant)?.id ?? "";
  const uploaderOf = (caller: Caller) => ({ caller, user: users.get(caller)?.id ?? "anonymous" });
  const now = deps.clock.now();
  const at = new Date(now).toISOString();
  const members = CALLER_NAMES.flatMap((caller) => {
    const { role } = standingOf(caller);
    return role === null ? [] : [{ user: idOf(caller), role }];
  });

  const orders = initialOrders(DOCUMENTS_MAX)[Symbol.iterator]();
  const documentOf = (id: string, more: Partial<StoredDocument>): Write[] => {
    const parent = more.parent ?? null;
    const order = orders.next().value ?? "";
    const pk = more.deleted_at != null && parent !== null ? deletedChildrenOf(parent) : childrenOf(parent);
    const sk = pk === childrenOf(parent) ? order : id;
    const item: StoredDocument = {
      ...documentKey(id),
      id,
      title: "Notes",
      excerpt: null,
      link_reach: "restricted",
      link_role: "reader",
      creator: null,
      duplicated_from: null,
      created_at: at,
      updated_at: at,
      deleted_at: null,
      parent: null,
      order,
      chain: [],
      position_version: 1,
      height: 1,
      numchild: 0,
      accesses: 0,
      owners: 0,
      revision: 1,
      ...more,
    };
    return [
      { op: "put", table: documentsTable, item },
      { op: "put", table: childrenTable, item: { pk, sk, id } },
    ];
  };
  const grant = (document: string, user: string, role: Role): Write[] => {
    const id = accessId(document, { user });
    const access = { ...accessKey(document, id), id, document, user, team: null, role };
    const relation = { ...relationKey(user, document), document, role, since: at };
    return [
      { op: "put", table: accessesTable, item: { ...access, created_at: at, revision: 1 } },
      { op: "put", table: relationsTable, item: relation },
    ];
  };
  const grants = (document: string): Write[] =>
    members.flatMap(({ user, role }) => grant(document, user, role));
  const counted = { accesses: members.length, owners: 1 };
  const linked = ({ reach, role }: Link) => ({ link_reach: reach, link_role: role });

  const make = async (
    { position, state, link }: DocumentState,
    records: readonly RecordKind[],
    caller?: Caller,
  ): Promise<readonly string[]> => {
    const id = deps.ids.random();
    const parent = position === "root" ? null : deps.ids.random();
    const isInherited = position === "inherited";
    const shared = { ...linked(link), ...counted };
    const deleted_at = {
      live: null,
      below: null,
      deleted: at,
      gone: new Date(now - LONG_AGO_MS).toISOString(),
    };
    const maker = idOf("maker");
    const hasContent = records.includes("content");
    const writes: Write[] = [
      ...documentOf(id, {
        parent,
        chain: parent === null ? [] : [parent],
        deleted_at: deleted_at[state],
        creator: maker,
        ...(isInherited ? { accesses: 1 } : { ...shared, accesses: counted.accesses + 1 }),
        ...(hasContent ? { content: contentHead(at) } : {}),
      }),
      ...grants(isInherited && parent !== null ? parent : id),
      ...grant(id, idOf("guest"), "commenter"),
      {
        op: "update",
        table: relationsTable,
        key: relationKey(idOf("link-only"), id),
        change: { set: { document: id, trace: true } },
      },
    ];
    if (parent !== null) {
      const isChild = deleted_at[state] === null;
      const parentFields = { numchild: isChild ? 1 : 0, deleted_at: state === "below" ? at : null };
      writes.push(...documentOf(parent, { ...parentFields, ...(isInherited ? shared : {}) }));
    }
    await writeRows(deps, writes);
    const more = planRecords(id, at, users, records);
    if (more.length > 0) await writeRows(deps, more);
    await storeBlobs(deps, id, records, caller && uploaderOf(caller));
    return parent === null ? [id] : [id, parent];
  };

  const moveTarget = deps.ids.random();
  await writeRows(deps, [...documentOf(moveTarget, counted), ...grants(moveTarget)]);
  const documents = new Set([moveTarget]);
  const made = new Map<string, Promise<string>>();
  const first = async (state: DocumentState): Promise<string> => {
    const ids = await make(state, ALL_KINDS);
    for (const id of ids) documents.add(id);
    return ids[0] ?? "";
  };
  const getShared = (situation: Situation): Promise<string> => {
    const name = situationName({ ...situation, caller: "none" });
    const id = made.get(name) ?? first(situation);
    made.set(name, id);
    return id;
  };
  const createOwn = async (situation: Situation, records: readonly RecordKind[] = []): Promise<string> =>
    (await make(situation, records, situation.caller))[0] ?? "";
  return { users, moveTarget, documents, getShared, createOwn };
}
