import type { Key, TableSpec } from "../../platform/tables.ts";
import type { DiffKind } from "./compute-diff.ts";

/** A stored diff; its content is in a blob. Reference 1.6. */
export interface StoredDiff extends Key {
  readonly id: number;
  readonly workspace_name: string;
  readonly from_time: string;
  readonly to_time: string;
  readonly total_added: number;
  readonly total_removed: number;
  readonly total_changed: number;
  readonly created_at: string;
}

export const diffsTable: TableSpec<StoredDiff> = { name: "diffs", indexes: {} };

export const diffKey = (kind: DiffKind, id: number): Key => ({ pk: kind, sk: String(id).padStart(12, "0") });

export const diffBlob = (kind: DiffKind, id: number): string => `diffs/${kind}/${id}`;
