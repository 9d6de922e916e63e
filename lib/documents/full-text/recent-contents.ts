import { applyUpdate, type Doc } from "yjs";
import type { Ports } from "../../platform/ports.ts";
import type { Tables } from "../../platform/tables.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { type DocumentWithLog, readEntries } from "../updates/read-log.ts";

/** Bytes of the encoded contents that are kept; in memory, they take a multiple. */
const BYTES_MAX = 4 * 1024 * 1024;
/** Time after its last use until a content is dropped, milliseconds. */
const KEPT_MS = 60_000;

/** A content that was read, as of a position of the log after a version. */
interface RecentContent {
  readonly doc: Doc;
  readonly generation: number;
  /** Id of the version that the log continues; undefined if there is none. */
  readonly version: string | undefined;
  position: number;
  bytes: number;
  usedAt: number;
}

/** The contents that a process has read last, by document; the least recently used one is first. */
const recentContents = new WeakMap<Tables, Map<string, RecentContent>>();

/**
 * The content of a document that was indexed recently, with the entries of the log that are new since then, so that
 * frequent edits of a document do not read its whole log each time. Undefined if the content must be read.
 */
export async function readRecentContent(
  deps: Pick<Ports, "tables" | "blobs" | "clock">,
  document: StoredDocument,
): Promise<Doc | undefined> {
  const contents = recentContents.get(deps.tables);
  const recent = contents?.get(document.id);
  if (contents === undefined || recent === undefined) return undefined;
  contents.delete(document.id);
  const { generation, version } = recent;
  if ((document.generation ?? 0) !== generation || document.content?.version !== version) return undefined;
  const entries = await readEntries(deps, document.id, generation, recent.position);
  // Entries are missing if the log was compacted after the document was read.
  if (entries.some((entry, at) => entry.position !== recent.position + 1 + at)) return undefined;
  try {
    recent.doc.transact(() => {
      for (const update of entries.flatMap(({ updates }) => updates)) applyUpdate(recent.doc, update);
    });
  } catch {
    return undefined;
  }
  recent.position += entries.length;
  recent.bytes += entries.reduce((sum, { bytes }) => sum + bytes, 0);
  keep(contents, document.id, { ...recent, usedAt: deps.clock.now() });
  return recent.doc;
}

/** Keeps a content that was read, with its log, for `readRecentContent`. `bytes` is its encoded size. */
export function keepRecentContent(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  { document: { id, generation = 0, content }, entries }: DocumentWithLog,
  { doc, bytes }: Pick<RecentContent, "doc" | "bytes">,
): void {
  const last = entries.at(-1);
  if (last === undefined) return;
  const contents = recentContents.get(tables) ?? new Map<string, RecentContent>();
  recentContents.set(tables, contents);
  const { position } = last;
  keep(contents, id, { doc, generation, version: content?.version, position, bytes, usedAt: clock.now() });
}

function keep(contents: Map<string, RecentContent>, id: string, added: RecentContent): void {
  contents.delete(id);
  contents.set(id, added);
  let bytes = [...contents.values()].reduce((sum, content) => sum + content.bytes, 0);
  for (const [oldest, content] of contents) {
    if (bytes <= BYTES_MAX && content.usedAt > added.usedAt - KEPT_MS) break;
    contents.delete(oldest);
    bytes -= content.bytes;
  }
}
