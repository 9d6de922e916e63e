import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";

/** A message that was given up after its last delivery. */
export interface StoredDeadLetter extends Key {
  readonly id: string;
  readonly queue: string;
  /** Absent if it is stored in a blob. */
  readonly body?: string;
  readonly body_blob?: string;
  readonly group_id: string;
  readonly error: string;
  readonly received_at: string;
  /** Id of the pending entry that was written with its last change. */
  readonly list_token: string;
}

export const deadLettersTable: TableSpec<StoredDeadLetter> = { name: "dead-letters", indexes: {} };

const LETTER_SK = "letter";
export const deadLetterKey = (id: string): Key => ({ pk: id, sk: LETTER_SK });

/** The field by which dead letters are listed: an index never removes ids, so a deleted one loses this value. */
export const PRESENT = { field: "present", value: "true" } as const;

export const deadLetterList: List<StoredDeadLetter> = {
  name: "dead-letters",
  table: deadLettersTable,
  sk: LETTER_SK,
  indexedFields: () => ({ fields: { [PRESENT.field]: PRESENT.value }, final: false }),
  tokenOf: ({ list_token }) => list_token,
  orderOf: ({ received_at, id }) => `${received_at}#${id}`,
  deletesWhenGone: true,
};
