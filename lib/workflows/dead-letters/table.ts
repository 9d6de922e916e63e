import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";

/** A message that was given up after its last delivery. */
export interface StoredDeadLetter extends Key {
  readonly id: string;
  readonly queue: string;
  /** Absent where it lies in a blob. */
  readonly body?: string;
  readonly body_blob?: string;
  readonly group_id: string;
  readonly error: string;
  readonly received_at: string;
  /** Of the mark that was written with its last change. */
  readonly listed_mark: string;
}

export const deadLettersTable: TableSpec<StoredDeadLetter> = { name: "dead-letters", indexes: {} };

const LETTER_SK = "letter";
export const deadLetterKey = (id: string): Key => ({ pk: id, sk: LETTER_SK });

/** What letters are listed by: an index forgets no number, so that one that was taken away loses this. */
export const PRESENT = { field: "present", value: "true" } as const;

export const deadLetterList: List<StoredDeadLetter> = {
  name: "dead-letters",
  table: deadLettersTable,
  sk: LETTER_SK,
  indexedFields: () => ({ fields: { [PRESENT.field]: PRESENT.value }, final: false }),
  tokenOf: ({ listed_mark }) => listed_mark,
  orderOf: ({ received_at, id }) => `${received_at}#${id}`,
  deletesWhenGone: true,
};
