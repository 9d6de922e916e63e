import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { FullText, NewText, TextPlace, TextTerm, TextWords } from "../full-text.ts";
import { postingsTable, textsTable } from "../full-text-tables.ts";
import { compressTextData, decompressTextData } from "../stored-text-data.ts";
import type { Key, Tables, Write } from "../tables.ts";
import { findPlace } from "../text-match.ts";

/** Writes of a transaction, besides those of the text. */
const WRITES_MAX = 98;
/** Texts that are read at once to compare phrases. */
const READ_AT_ONCE = 100;
/** Characters of a word that name its partition, so that the words with a beginning are in one partition. */
const BUCKET_LENGTH = 3;

/** The places of a word, as bits. */
const TITLE = 1;
const HEADINGS = 2;
const BODY = 4;
const COMMENTS = 8;
const TEXT = TITLE | HEADINGS | BODY;

const textKey = (id: string): Key => ({ pk: id, sk: "text" });
const wordsKey = (id: string): Key => ({ pk: id, sk: "words" });
const unfinishedKey = (id: string): Key => ({ pk: id, sk: "unfinished" });

function bucketOf(word: string): string {
  const letters = [...word];
  return letters.slice(0, letters.length < BUCKET_LENGTH ? 1 : BUCKET_LENGTH).join("");
}
const postingKey = (word: string, id: string): Key => ({ pk: bucketOf(word), sk: `${word} ${id}` });

/** Word -> places. */
type Postings = ReadonlyMap<string, number>;

/**
 * Full-text search over tables: an item for each word of each text, without positions, so that an edit writes only the
 * words that it adds or removes. Phrases are compared with the texts. Choice: infra/decisions/0128.
 */
export function tableFullText(tables: Tables): FullText {
  return {
    get: async (ids) => {
      const items = await tables.batchGet(textsTable, ids.map(textKey));
      return items.flatMap(({ pk, version, data }) =>
        version === undefined || data === undefined
          ? []
          : [{ id: pk, version, data: decompressTextData(data) }],
      );
    },
    put: (text, replaces) => putText(tables, text, replaces),
    find: async (terms, among) => {
      const ids = among.map(({ id }) => id);
      const found = await findTexts(tables, terms, ids);
      return ids.map((id) => found.get(id));
    },
  };
}

/**
 * Writes few changed words in one transaction with the text. Many are written in several: the first one changes the
 * version and notes the words, and each other one checks the version, so that a call that was overtaken writes nothing
 * more. If a call was interrupted, the next one knows which words it may have written.
 */
async function putText(
  tables: Tables,
  { id, version, data, words }: NewText,
  replaces: string | undefined,
): Promise<boolean> {
  const stored = await readState(tables, id);
  if (stored.version !== replaces) return false;
  const after = postingsOf(words);
  const changes = planChanges(id, stored, after);
  const compressed = compressTextData(data);
  const putVersion = (next: string, bytes: Uint8Array, before: string | undefined): Write => ({
    op: "put",
    table: textsTable,
    item: { ...textKey(id), version: next, data: bytes },
    when: [before === undefined ? ["pk", "missing"] : ["version", "=", before]],
  });
  const putWords: Write = { op: "put", table: textsTable, item: { ...wordsKey(id), words: compress(words) } };
  if (changes.length <= WRITES_MAX && stored.unfinished.length === 0)
    return (await tables.write([putVersion(version, compressed, replaces), putWords, ...changes])).ok;
  const during = `${version}/unfinished`;
  const unfinished = compress([...new Set([...after.keys(), ...stored.unfinished])]);
  const begun = await tables.write([
    putVersion(during, stored.data, replaces),
    { op: "put", table: textsTable, item: { ...unfinishedKey(id), words: unfinished } },
  ]);
  if (!begun.ok) return false;
  const check: Write = { op: "check", table: textsTable, key: textKey(id), when: [["version", "=", during]] };
  for (let at = 0; at < changes.length; at += WRITES_MAX)
    if (!(await tables.write([check, ...changes.slice(at, at + WRITES_MAX)])).ok) return false;
  const end: Write = { op: "delete", table: textsTable, key: unfinishedKey(id) };
  return (await tables.write([putVersion(version, compressed, during), putWords, end])).ok;
}

/** A text as stored, with its words and those that an interrupted change may have written. */
interface TextState {
  readonly version: string | undefined;
  /** Compressed. */
  readonly data: Uint8Array;
  readonly words: TextWords;
  readonly unfinished: readonly string[];
}

async function readState(tables: Tables, id: string): Promise<TextState> {
  const items = await tables.batchGet(textsTable, [textKey(id), wordsKey(id), unfinishedKey(id)]);
  const found = new Map(items.map((item) => [item.sk, item]));
  const words = found.get(wordsKey(id).sk)?.words;
  const unfinished = found.get(unfinishedKey(id).sk)?.words;
  const { version, data = new Uint8Array() } = found.get(textKey(id).sk) ?? {};
  return {
    version,
    data,
    words: words === undefined ? NO_WORDS : decompress<TextWords>(words),
    unfinished: unfinished === undefined ? [] : decompress<string[]>(unfinished),
  };
}

const NO_WORDS: TextWords = { title: [], headings: [], body: [], comments: [] };

/** The writes that change the stored words to these. */
function planChanges(id: string, { words, unfinished }: TextState, after: Postings): Write[] {
  const before = postingsOf(words);
  // It is unknown which of them were written.
  const uncertain = new Set(unfinished);
  const changes: Write[] = [];
  for (const [word, places] of after)
    if (before.get(word) !== places || uncertain.has(word))
      changes.push({ op: "put", table: postingsTable, item: { ...postingKey(word, id), places } });
  for (const word of new Set([...before.keys(), ...uncertain]))
    if (!after.has(word)) changes.push({ op: "delete", table: postingsTable, key: postingKey(word, id) });
  return changes;
}

function postingsOf({ title, headings, body, comments }: TextWords): Postings {
  const postings = new Map<string, number>();
  const add = (parts: readonly string[], place: number): void => {
    for (const word of parts.flatMap((part) => part.split(" ")))
      if (word !== "") postings.set(word, (postings.get(word) ?? 0) | place);
  };
  add(title, TITLE);
  add(headings, HEADINGS);
  add(body, BODY);
  add(comments, COMMENTS);
  return postings;
}

const compress = (value: TextWords | readonly string[]): Uint8Array =>
  zstdCompressSync(JSON.stringify(value));
const decompress = <Value extends TextWords | string[]>(bytes: Uint8Array): Value =>
  JSON.parse(zstdDecompressSync(bytes).toString("utf8")) as Value;

async function findTexts(
  tables: Tables,
  terms: readonly TextTerm[],
  ids: readonly string[],
): Promise<ReadonlyMap<string, TextPlace>> {
  // Per text, the places of each word, until one of them is missing.
  let candidates: Map<string, number[]> | undefined;
  const wanted = new Set(ids);
  for (const { words, isPrefix } of terms) {
    for (const [at, word] of words.entries()) {
      const found = await readPostings(tables, word, isPrefix && at === words.length - 1);
      const next = new Map<string, number[]>();
      for (const [id, places] of found) {
        const before = candidates === undefined ? [] : candidates.get(id);
        if (before !== undefined && wanted.has(id)) next.set(id, [...before, places]);
      }
      candidates = next;
      if (next.size === 0) return new Map();
    }
  }
  const matches = new Map<string, TextPlace>();
  for (const [id, places] of candidates ?? []) {
    const place = placeOf(places);
    if (place !== undefined) matches.set(id, place);
  }
  return terms.some(({ words }) => words.length > 1) ? comparePhrases(tables, terms, matches) : matches;
}

function placeOf(places: readonly number[]): TextPlace | undefined {
  const isIn = (place: number): boolean => places.every((bits) => (bits & place) !== 0);
  if (isIn(TITLE)) return "title";
  if (isIn(TITLE | HEADINGS)) return "heading";
  if (isIn(TEXT)) return "body";
  return isIn(COMMENTS) ? "comment" : undefined;
}

/** Text -> places of a word, or of the words with this beginning. */
async function readPostings(tables: Tables, word: string, isPrefix: boolean): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let cursor: string | undefined;
  do {
    const page = await tables.query(postingsTable, {
      pk: bucketOf(word),
      sk: { beginsWith: isPrefix ? word : `${word} ` },
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { sk, places } of page.items) {
      const id = sk.slice(sk.indexOf(" ") + 1);
      found.set(id, (found.get(id) ?? 0) | places);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

async function comparePhrases(
  tables: Tables,
  terms: readonly TextTerm[],
  candidates: ReadonlyMap<string, TextPlace>,
): Promise<ReadonlyMap<string, TextPlace>> {
  const matches = new Map<string, TextPlace>();
  const ids = [...candidates.keys()];
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const keys = ids.slice(from, from + READ_AT_ONCE).map(wordsKey);
    for (const { pk, words } of await tables.batchGet(textsTable, keys)) {
      const place = words === undefined ? undefined : findPlace(decompress(words), terms);
      if (place !== undefined) matches.set(pk, place);
    }
  }
  return matches;
}
