import { hash } from "node:crypto";
import type { EmbeddedFile } from "../../conversion/imported-page.ts";
import { ApiError } from "../../errors.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { copyAttachments } from "../attachments/adopt.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import { type AuthorizationDeps, authorize } from "../authorization/document-access.ts";
import { commitChange } from "../changes/commit.ts";
import { documentEvent } from "../events/document-event.ts";
import { planInitialAccess } from "../grants/grants.ts";
import { documentKey, documentsTable, type StoredDocument } from "../tables/documents.ts";
import type { StoredImport } from "../tables/imports.ts";
import type { StoredUser } from "../tables/users.ts";
import {
  CONTENT_MAX_BYTES,
  type ContentHead,
  versionBlob,
  versionKey,
  versionsTable,
} from "../tables/versions.ts";
import { ancestorsAndSelf, idsOf, readNode } from "../tree/ancestors.ts";
import { allocateOrder, initialOrders } from "../tree/siblings.ts";
import {
  DETACHED_AT,
  planAttach,
  planDetached,
  planWithinDepth,
  type TreePosition,
} from "../tree/tree-writes.ts";
import { type ConvertDeps, convertTo } from "./convert-file.ts";
import { importedId } from "./discard.ts";
import { fileError } from "./file-format.ts";
import { planChange, type StateDeps } from "./import-state.ts";
import { storeAttachment } from "./store-attachment.ts";

export type WriteDeps = StateDeps & AuthorizationDeps & ConvertDeps & Pick<Ports, "ids">;

/** A document of an import; parents are before their children. */
export interface Page {
  /** Position of its parent in the list; null for the first one. */
  readonly parent: number | null;
  readonly title: string;
  /** Its place among its siblings: those without one follow in the order of the list. */
  readonly position?: number | undefined;
  /** Undefined for a folder. */
  readonly content?: PageContent;
}

/** The content of a page: in memory, or already stored. */
export interface PageContent {
  readonly state: Uint8Array | { readonly stored: ContentHead };
  readonly files: readonly EmbeddedFile[];
  /** Relative URLs. */
  readonly urls: readonly string[];
}

/** What a relative URL refers to: a page by its position, or a file. */
export type Target =
  | { readonly page: number }
  | { readonly file: string; readonly name: string; read(): Promise<Uint8Array | undefined> };

export interface WriteOptions {
  /** What a URL in a page refers to; undefined if it is left as it is. */
  resolve(page: number, url: string): Target | undefined;
  /** Called after each page that needed more than its text. */
  progress(done: number, total: number): Promise<void>;
}

/** Documents per transaction: each takes up to three items. */
const DOCUMENTS_AT_ONCE = 30;

/** The stored content of a page. */
export function toHead(deps: Pick<Ports, "clock">, version: string, bytes: Uint8Array): ContentHead {
  const saved_at = new Date(deps.clock.now()).toISOString();
  return { version, etag: hash("md5", bytes), bytes: bytes.length, kind: "yjs", saved_at };
}

/**
 * Creates the documents of an import, detached and with their content, so that they become visible together when
 * `attachImport` attaches the first one, which is returned. `first` is written with the root. Throws `bad_request`.
 */
export async function writePages(
  deps: WriteDeps,
  stored: StoredImport,
  pages: readonly Page[],
  { resolve, progress }: WriteOptions,
  first: readonly Write[] = [],
): Promise<StoredDocument> {
  const documents = await planDocuments(deps, stored, pages);
  const [root] = documents;
  if (root === undefined) throw fileError("The file contains no documents.");
  for (let at = 0; at < documents.length; at += DOCUMENTS_AT_ONCE) {
    const some = documents.slice(at, at + DOCUMENTS_AT_ONCE);
    await commitChange(deps, async () => {
      const taken = at === 0 && (await deps.tables.get(documentsTable, documentKey(root.id))) !== undefined;
      if (taken) throw idTaken();
      return {
        writes: [
          ...(at === 0 ? first : []),
          ...some.flatMap((document) => [
            ...planDetached(document),
            ...(document.content === undefined
              ? []
              : [planVersion(stored, document.id, document.content, [])]),
          ]),
        ],
        events: [],
        result: undefined,
      };
    });
  }
  const files = new Map<string, Promise<{ readonly key: string; readonly document: string } | undefined>>();
  const unfinished = pages.flatMap(({ content }, at) =>
    content === undefined || isFinal(content) ? [] : [{ content, at }],
  );
  for (const [done, { content, at }] of unfinished.entries()) {
    await finishPage(deps, stored, documents, { content, at }, resolve, files);
    await progress(done + 1, unfinished.length);
  }
  return root;
}

/** Whether the content is stored as it stays. */
const isFinal = ({ state, files, urls }: PageContent): boolean =>
  "stored" in state && files.length === 0 && urls.length === 0;

async function planDocuments(
  deps: WriteDeps,
  stored: StoredImport,
  pages: readonly Page[],
): Promise<StoredDocument[]> {
  const at = new Date(deps.clock.now()).toISOString();
  const parent = stored.parent === null ? undefined : await readNode(deps, stored.parent);
  const above = parent === undefined ? [] : idsOf(ancestorsAndSelf(parent));
  const orders = initialOrders(pages.length);
  const ranks = rankSiblings(pages);
  const documents: (StoredDocument & { numchild: number; height: number })[] = [];
  for (const [position, { parent: parentAt, title, content }] of pages.entries()) {
    const under = parentAt === null ? undefined : documents[parentAt];
    if (under !== undefined) under.numchild += 1;
    const made = parentAt === null && stored.parent === null ? 1 : 0;
    const id = importedId(stored, position);
    documents.push({
      ...documentKey(id),
      id,
      parent: under?.id ?? null,
      order: orders[ranks[position] ?? 0] ?? "",
      chain: under === undefined ? above : [...under.chain, under.id],
      height: 0,
      numchild: 0,
      title,
      excerpt: null,
      link_reach: "restricted",
      link_role: "reader",
      creator: stored.user,
      duplicated_from: null,
      created_at: at,
      updated_at: at,
      deleted_at: parentAt === null ? DETACHED_AT : null,
      position_version: 1,
      revision: 1,
      // The creator's access is written when the tree is attached.
      accesses: made,
      owners: made,
      ...(content !== undefined && isFinal(content) && "stored" in content.state
        ? { content: content.state.stored }
        : {}),
    });
  }
  for (let position = pages.length - 1; position > 0; position -= 1) {
    const under = documents[pages[position]?.parent ?? -1];
    if (under !== undefined) under.height = Math.max(under.height, (documents[position]?.height ?? 0) + 1);
  }
  return documents;
}

/** The place of each page among its siblings. */
function rankSiblings(pages: readonly Page[]): readonly number[] {
  const ranks: number[] = [];
  const siblings = Map.groupBy(pages.keys(), (at) => pages[at]?.parent ?? -1);
  const placeOf = (at: number): number => pages[at]?.position ?? Number.POSITIVE_INFINITY;
  for (const group of siblings.values())
    for (const [rank, at] of group.toSorted((a, b) => compare(placeOf(a), placeOf(b)) || a - b).entries())
      ranks[at] = rank;
  return ranks;
}

const compare = (one: number, other: number): number => (one === other ? 0 : one < other ? -1 : 1);

const planVersion = (
  { user }: Pick<StoredImport, "user">,
  id: string,
  { version, etag, bytes, kind, saved_at }: ContentHead,
  attachments: readonly string[],
): Write => ({
  op: "put",
  table: versionsTable,
  item: { ...versionKey(id, version), etag, bytes, kind, last_modified: saved_at, author: user, attachments },
});

/** Stores the files of a page, replaces its URLs, and saves its content. */
async function finishPage(
  deps: WriteDeps,
  stored: StoredImport,
  documents: readonly StoredDocument[],
  { content, at }: { readonly content: PageContent; readonly at: number },
  resolve: WriteOptions["resolve"],
  shared: Map<string, Promise<{ readonly key: string; readonly document: string } | undefined>>,
): Promise<void> {
  const id = importedId(stored, at);
  const urls: Record<string, string> = {};
  for (const [number, file] of content.files.entries()) {
    const key = await storeAttachment(
      deps,
      {
        document: id,
        user: stored.user,
        id: derivedId(stored.id, String(stored.attempt), String(at), "file", String(number)),
      },
      file,
    );
    urls[file.url] = `/media/${key}`;
  }
  for (const url of content.urls) {
    const target = resolve(at, url);
    if (target === undefined) continue;
    if ("page" in target) {
      const fragment = /#.*$/.exec(url)?.[0] ?? "";
      urls[url] = `/docs/${documents[target.page]?.id ?? ""}/${fragment}`;
      continue;
    }
    const found = shared.get(target.file) ?? storeShared(deps, stored, id, target);
    shared.set(target.file, found);
    const attachment = await found;
    if (attachment === undefined) continue;
    if (attachment.document !== id) await copyAttachments(deps, attachment.document, id, [attachment.key]);
    urls[url] = `/media/${attachment.key}`;
  }
  const before = await readState(deps, id, content);
  const state =
    Object.keys(urls).length === 0
      ? before
      : await convertTo(deps, { from: "yjs", to: "yjs", bytes: before, urls });
  if (state.length > CONTENT_MAX_BYTES) throw fileError("A document of the file is too large.");
  const head = toHead(
    deps,
    "stored" in content.state ? content.state.stored.version : deps.ids.ordered(),
    state,
  );
  await deps.blobs.put(versionBlob(id, head.version), state);
  await deps.tables.write([
    planVersion(stored, id, head, findAttachmentKeys(state)),
    {
      op: "update",
      table: documentsTable,
      key: documentKey(id),
      change: { set: { content: { ...head } } },
      when: [["pk", "exists"]],
    },
  ]);
}

async function readState(deps: WriteDeps, id: string, { state }: PageContent): Promise<Uint8Array> {
  if (!("stored" in state)) return state;
  const bytes = await deps.blobs.get(versionBlob(id, state.stored.version));
  if (bytes === undefined) throw new Error("the content of an imported document is missing");
  return bytes;
}

async function storeShared(
  deps: WriteDeps,
  { id: importId, attempt, user }: StoredImport,
  document: string,
  { file, name, read }: Extract<Target, { file: string }>,
): Promise<{ readonly key: string; readonly document: string } | undefined> {
  const bytes = await read();
  if (bytes === undefined) return undefined;
  const id = derivedId(importId, String(attempt), "file", file);
  return { document, key: await storeAttachment(deps, { document, user, id }, { name, bytes }) };
}

/** Makes the documents of an import visible. Throws `not_found`, `forbidden`, `bad_request` if the tree is too deep. */
export async function attachImport(
  deps: WriteDeps,
  user: StoredUser,
  stored: StoredImport,
  root: StoredDocument,
  skipped: readonly string[] = [],
): Promise<StoredImport> {
  return commitChange(deps, async () => {
    const target = await positionOf(deps, user, stored.parent);
    return {
      writes: [
        ...planWithinDepth(() => planAttach(root, target)),
        ...(target.parent === undefined ? planInitialAccess(deps, root.id, user.id, "owner") : []),
        planChange(stored, { set: { status: "attached", skipped } }),
      ],
      events: [
        documentEvent("documents.created", { ...root, parent: stored.parent }, user, {
          documents: stored.documents,
        }),
      ],
      result: { ...stored, status: "attached" },
    };
  });
}

async function positionOf(deps: WriteDeps, user: StoredUser, id: string | null): Promise<TreePosition> {
  const parent = id === null ? undefined : await authorize(deps, user, id, "children_create");
  return { parent, ...(await allocateOrder(deps, id, "last")) };
}

function idTaken(): ApiError {
  const message = "A document with this ID already exists. You cannot override it.";
  return new ApiError("bad_request", message, { body: { id: [message] } });
}
