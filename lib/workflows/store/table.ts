import type { Key, TableSpec, Tables, Write } from "../../platform/tables.ts";
import type { Trigger, WorkflowKind } from "../schema/types.ts";

/** The newest revision of a workflow, with the fields that lists and triggers need. */
export interface WorkflowHead extends Key {
  readonly name: string;
  readonly kind: WorkflowKind;
  readonly description: string;
  readonly tags: readonly string[];
  readonly hidden: boolean;
  readonly revision: number;
  readonly checksum: string;
  readonly source: "api" | "file";
  readonly file_path: string;
  /** Checksum of the file's text when it was last read. */
  readonly file_checksum: string;
  readonly triggers: readonly Trigger[];
  readonly step_count: number;
  readonly module_count: number;
  /** Name of the extended workflow. */
  readonly extends?: string;
  readonly params: readonly { name: string; type: string; required: boolean; default?: string }[];
  readonly created_at: string;
  readonly updated_at: string;
  /** Deleted workflows stay as tombstones, so that an unchanged file does not restore them. */
  readonly deleted: boolean;
  readonly list?: string;
}

/** One revision; immutable. */
export interface WorkflowRevision extends Key {
  readonly name: string;
  readonly revision: number;
  /** The definition and its text as JSON: nested steps exceed the nesting depth of item attributes. */
  readonly json?: string;
  /** Key of the blob that contains them if they are too large for an item. */
  readonly blob?: string;
  readonly checksum: string;
  readonly created_at: string;
}

/** Changes with every change of any workflow, to invalidate caches. */
export interface CatalogVersion extends Key {
  readonly version: number;
}

export const workflowsTable: TableSpec<WorkflowHead> = {
  name: "workflows",
  indexes: { list: { pk: "list", sk: "name" } },
};
export const revisionsTable: TableSpec<WorkflowRevision> = { name: "workflow-revisions", indexes: {} };
export const catalogTable: TableSpec<CatalogVersion> = { name: "catalog", indexes: {} };

export const headKey = (name: string): Key => ({ pk: name, sk: "head" });
export const revisionKey = (name: string, revision: number): Key => ({
  pk: name,
  sk: String(revision).padStart(8, "0"),
});

/** Copies of the catalog's version where partitions have limits: every event reads one. */
const CATALOG_COPIES = 4;

/** Number of copies of the catalog's version. */
export const catalogCopies = ({ partitionLimits }: Pick<Tables, "partitionLimits">): number =>
  partitionLimits === true ? CATALOG_COPIES : 1;

/** Key of a copy of the catalog's version. The copies change together, but their versions differ. */
export const catalogKey = (copy: number): Key => ({
  pk: copy === 0 ? "catalog" : `catalog#${copy}`,
  sk: "version",
});

/** Invalidates the caches of the catalog, in the transaction that changes a workflow or trigger. */
export const catalogWrites = ({ tables }: { readonly tables: Pick<Tables, "partitionLimits"> }): Write[] =>
  Array.from({ length: catalogCopies(tables) }, (_, copy) => ({
    op: "update",
    table: catalogTable,
    key: catalogKey(copy),
    change: { add: { version: 1 } },
  }));

export const WORKFLOW_LIST = "workflows";
