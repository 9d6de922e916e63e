import { readAll } from "../../events/read-all.ts";
import type { Role } from "../access/roles.ts";
import { ChangeFeed, changeTables, type FeedDeps, timeOf } from "../changes/change-feed.ts";
import { relationKey, relationsTable, type StoredRelation } from "../tables/accesses.ts";
import type { ChangeRow } from "../tables/changes.ts";
import { DocumentIndex, type IndexedDocument } from "./document-index.ts";

/** A user's relation to a document, with its index entry; undefined if the document does not exist. */
export interface RelationRow {
  document: IndexedDocument | undefined;
  role: Role | undefined;
  trace: boolean;
  favorite: boolean;
  masked: boolean;
}

/** All relations of a user. */
export interface UserRelations {
  readonly byDocument: ReadonlyMap<string, RelationRow>;
  /** Sorted by the last requested ordering. */
  readonly all: RelationRow[];
  /** Cached results, each for an index version. */
  readonly cached: CachedResults;
}

interface Sorted {
  readonly version: number;
  readonly ordering: string;
}

export interface CachedResults {
  sorted?: Sorted;
  highest?: {
    readonly version: number;
    readonly sorted: Sorted | undefined;
    readonly documents: readonly IndexedDocument[];
  };
  reached?: Sorted & { readonly documents: readonly IndexedDocument[] };
}

/** The current state from which lists are computed. Valid only during the callback. */
export interface ListSnapshot {
  readonly index: DocumentIndex;
  /** Returns a user's relations; their documents are loaded with all ancestors. */
  rowsOf(user: string): Promise<UserRelations>;
}

interface StoredRelations extends UserRelations {
  readonly byDocument: Map<string, RelationRow>;
}

/** Maximum entries in memory; the cache is cleared beyond them. */
const DOCUMENTS_MAX = 200_000;
const ROWS_MAX = 400_000;
/** Recent changes are read again, since the writes of a transaction may become visible one by one. Milliseconds. */
const UNSETTLED_MS = 250;

/**
 * In-memory cache of documents and relations of active users, updated from the change feed before each read. Reads
 * run one after the other.
 */
export class DocumentLists {
  readonly #index = new DocumentIndex();
  readonly #users = new Map<string, StoredRelations>();
  readonly #limits: { readonly documents: number; readonly rows: number };
  #feed = new ChangeFeed();
  #recent: readonly ChangeRow[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    limits: { readonly documents: number; readonly rows: number } = {
      documents: DOCUMENTS_MAX,
      rows: ROWS_MAX,
    },
  ) {
    this.#limits = limits;
  }

  /** Runs `work` on a state that includes every write before the call, by any process. */
  read<Result>(deps: FeedDeps, work: (library: ListSnapshot) => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(async () => {
      try {
        await this.#bringUpToDate(deps);
        return await work({ index: this.#index, rowsOf: (user) => this.#rowsOf(deps, user) });
      } catch (error) {
        // A partial update may be inconsistent.
        this.#forget();
        this.#feed = new ChangeFeed();
        throw error;
      }
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  #forget(): void {
    this.#index.clear();
    this.#users.clear();
    this.#recent = [];
  }

  async #bringUpToDate(deps: FeedDeps): Promise<void> {
    if (this.#isFull()) this.#forget();
    const batch = await this.#feed.read(changeTables(deps));
    if (batch.isReset) this.#forget();
    const rows = [...this.#recent, ...batch.rows];
    if (rows.length === 0) return;
    const since = deps.clock.now() - UNSETTLED_MS;
    this.#recent = rows.filter(({ sk }) => timeOf(sk) >= since);
    if (batch.isReset) return;
    await this.#index.refresh(deps, new Set(rows.flatMap(({ documents }) => documents)));
    await this.#readRelations(deps, rows);
  }

  #isFull(): boolean {
    let rows = 0;
    for (const { all } of this.#users.values()) rows += all.length;
    return this.#index.size > this.#limits.documents || rows > this.#limits.rows;
  }

  async #readRelations(deps: FeedDeps, changed: readonly ChangeRow[]): Promise<void> {
    const wanted = new Map<string, readonly [user: string, document: string]>();
    for (const relation of changed.flatMap(({ relations }) => relations))
      if (this.#users.has(relation[0])) wanted.set(relation.join(" "), relation);
    if (wanted.size === 0) return;
    const keys = [...wanted.values()].map(([user, document]) => relationKey(user, document));
    const found = await deps.tables.batchGet(relationsTable, keys);
    await this.#index.load(
      deps,
      found.map(({ sk }) => sk),
    );
    for (const relation of found) {
      wanted.delete(`${relation.pk} ${relation.sk}`);
      this.#put(this.#users.get(relation.pk), relation);
    }
    for (const [user, document] of wanted.values()) removeRow(this.#users.get(user), document);
  }

  async #rowsOf(deps: FeedDeps, user: string): Promise<UserRelations> {
    const kept = this.#users.get(user);
    if (kept !== undefined) return kept;
    const relations = await readAll(deps, relationsTable, { pk: user });
    await this.#index.load(
      deps,
      relations.map(({ sk }) => sk),
    );
    const rows: StoredRelations = { byDocument: new Map(), all: [], cached: {} };
    for (const relation of relations) this.#put(rows, relation);
    this.#users.set(user, rows);
    return rows;
  }

  #put(rows: StoredRelations | undefined, { sk, role, trace, favorite, masked }: StoredRelation): void {
    if (rows === undefined) return;
    const row: RelationRow = {
      document: this.#index.get(sk),
      role,
      trace: trace === true,
      favorite: favorite === true,
      masked: masked === true,
    };
    const before = rows.byDocument.get(sk);
    if (before !== undefined) {
      Object.assign(before, row);
      return;
    }
    rows.byDocument.set(sk, row);
    rows.all.push(row);
  }
}

function removeRow(rows: StoredRelations | undefined, document: string): void {
  const row = rows?.byDocument.get(document);
  if (rows === undefined || row === undefined) return;
  rows.byDocument.delete(document);
  rows.all.splice(rows.all.indexOf(row), 1);
}
