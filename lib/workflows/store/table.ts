import type { Key, TableSpec } from "../../platform/tables.ts";
import type { Trigger, WorkflowKind } from "../schema/types.ts";

/** The newest revision of a workflow, as lists and triggers need it. */
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
  /** Of the file's text when it was last read. */
  readonly file_checksum: string;
  readonly triggers: readonly Trigger[];
  readonly step_count: number;
  readonly module_count: number;
  /** The workflow whose parts it took over. */
  readonly extends?: string;
  readonly params: readonly { name: string; type: string; required: boolean; default?: string }[];
  readonly created_at: string;
  readonly updated_at: string;
  /** Deleted ones stay as a mark, so that an unchanged file does not bring them back. */
  readonly deleted: boolean;
  readonly list?: string;
}

/** One revision, never changed again. */
export interface WorkflowRevision extends Key {
  readonly name: string;
  readonly revision: number;
  /** The definition and its text as JSON: steps inside each other go deeper than the values of an item may. */
  readonly json?: string;
  /** Key of the blob that holds them where they are too large for an item. */
  readonly blob?: string;
  readonly checksum: string;
  readonly created_at: string;
}

/** Moves with every change of any workflow, so that caches know. */
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
export const CATALOG_KEY: Key = { pk: "catalog", sk: "version" };
export const WORKFLOW_LIST = "workflows";
