import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";

export const ARTIFACT_TYPES = ["report", "state_file", "output", "screenshot"] as const;
export type ArtifactType = (typeof ARTIFACT_TYPES)[number];

/** A registered file of a workspace, identified by workspace and path. Reference 6. */
export interface StoredArtifact extends Key {
  readonly id: string;
  /** Id of the run that registered it last. */
  readonly run_id: string;
  readonly workspace: string;
  readonly name: string;
  /** Relative to the workspace's folder, with `/` between names. */
  readonly artifact_path: string;
  readonly artifact_type: ArtifactType;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly line_count: number;
  readonly optional: boolean;
  readonly description: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly list_token: string;
}

export const artifactsTable: TableSpec<StoredArtifact> = { name: "artifacts", indexes: {} };

const ARTIFACT_SK = "artifact";
export const artifactKey = (workspace: string, path: string): Key => ({
  pk: derivedId("artifact", workspace, path),
  sk: ARTIFACT_SK,
});

/** The field by which artifacts are listed: an index never removes ids, so a deleted artifact loses this value. */
export const PRESENT = { field: "present", value: "true" } as const;

export const artifactList: List<StoredArtifact> = {
  name: "artifacts",
  table: artifactsTable,
  sk: ARTIFACT_SK,
  indexedFields: ({ workspace, run_id, name, artifact_path, artifact_type }) => ({
    fields: { [PRESENT.field]: PRESENT.value, workspace, run: run_id, artifact_type },
    text: `${name}\n${artifact_path}`,
    final: false,
  }),
  tokenOf: ({ list_token }) => list_token,
  orderOf: ({ created_at, id }) => `${created_at}#${id}`,
  deletesWhenGone: false,
};
