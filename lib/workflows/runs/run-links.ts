import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { runNamesTable, type StoredRun } from "./table.ts";

/** How a run and a document are related. */
export type DocumentRelation = "wrote" | "triggered";

/** Runs that a run started or that were made from it, oldest first. */
export const childrenPartition = (runId: string): string => `from#${runId}`;

/** Documents that a run wrote. */
export const writtenPartition = (runId: string): string => `documents#${runId}`;

/** Runs that wrote a document or that its events triggered, oldest first. */
export const documentPartition = (documentId: string): string => `document#${documentId}`;

type Linked = Pick<StoredRun, "run_id" | "created_at" | "parent" | "source" | "document">;

const childKey = (from: string, { created_at, run_id }: Linked): Key => ({
  pk: childrenPartition(from),
  sk: `${created_at}#${run_id}`,
});

const documentKey = (
  documentId: string,
  { created_at, run_id }: Linked,
  relation: DocumentRelation,
): Key => ({
  pk: documentPartition(documentId),
  sk: `${created_at}#${run_id}#${relation}`,
});

/** Keys of the items by which a run is found from the run and the document that started it. */
function linkKeys(run: Linked): Key[] {
  const { parent, source, document } = run;
  const from = new Set([parent, source?.run_id].filter((id) => id !== undefined));
  return [
    ...[...from].map((id) => childKey(id, run)),
    ...(document === undefined ? [] : [documentKey(document, run, "triggered")]),
  ];
}

/** Belong to the transaction that creates the run. */
export const linkWrites = (run: Linked): Write[] =>
  linkKeys(run).map((key) => ({ op: "put", table: runNamesTable, item: { ...key, run_id: run.run_id } }));

/** Records that a run wrote a document; may be repeated. */
export async function recordWrittenDocument(
  { tables }: Pick<Ports, "tables">,
  run: StoredRun,
  documentId: string,
): Promise<void> {
  const { run_id } = run;
  const keys = [{ pk: writtenPartition(run_id), sk: documentId }, documentKey(documentId, run, "wrote")];
  await tables.write(keys.map((key) => ({ op: "put", table: runNamesTable, item: { ...key, run_id } })));
}

/** Keys of all links of a run; `children` and `written` are the items of its own partitions. */
export const keysOfLinks = (run: StoredRun, children: readonly Key[], written: readonly Key[]): Key[] => [
  ...linkKeys(run),
  ...children,
  ...written.flatMap(({ pk, sk }) => [{ pk, sk }, documentKey(sk, run, "wrote")]),
];

/** The relation of an item of a document's partition. */
export const relationOf = ({ sk }: Key): DocumentRelation => (sk.endsWith("#wrote") ? "wrote" : "triggered");
