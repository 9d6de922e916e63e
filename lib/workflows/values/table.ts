import type { Key, TableSpec } from "../../platform/tables.ts";

/** A value that a run's templates may name. */
export interface StoredValue extends Key {
  /** JSON text; absent where it lies in a blob. */
  readonly json?: string;
  readonly blob?: string;
}

export const valuesTable: TableSpec<StoredValue> = { name: "run-values", indexes: {} };

export const valueKey = (runId: string, name: string): Key => ({ pk: runId, sk: name });
