import type { Key, TableSpec } from "../../platform/tables.ts";

/** A value that templates of a run may name. */
export interface StoredValue extends Key {
  /** JSON text; absent if the value is in a blob. */
  readonly json?: string;
  readonly blob?: string;
}

export const valuesTable: TableSpec<StoredValue> = { name: "run-values", indexes: {} };

export const valueKey = (runId: string, name: string): Key => ({ pk: runId, sk: name });
