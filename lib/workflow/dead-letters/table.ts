import type { Key, TableSpec } from "../../platform/tables.ts";

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
  readonly list: string;
}

export const deadLettersTable: TableSpec<StoredDeadLetter> = {
  name: "dead-letters",
  indexes: { list: { pk: "list", sk: "received_at" } },
};

export const deadLetterKey = (id: string): Key => ({ pk: id, sk: "letter" });
export const DEAD_LETTER_LIST = "dead-letters";
