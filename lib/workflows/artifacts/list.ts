import * as z from "zod";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { Filter } from "../../ranked-index/view.ts";
import type { ListDeps } from "../lists/list.ts";
import { readList } from "../lists/read-list.ts";
import { type FileDeps, kindAt } from "./open-artifact.ts";
import { artifactList, PRESENT, type StoredArtifact } from "./table.ts";

/** An artifact in responses. Reference 6. */
export const artifactRecord = z
  .object({
    id: z.string(),
    run_id: z.string(),
    workspace: z.string(),
    name: z.string(),
    artifact_path: z.string().describe("Path relative to the workspace's folder"),
    artifact_type: z.string(),
    content_type: z.string(),
    size_bytes: z.int(),
    line_count: z.int(),
    optional: z.boolean(),
    description: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    path_exists: z.boolean().optional().describe("Present if verify_exist is set"),
    path_is_dir: z.boolean().optional(),
  })
  .meta({ id: "Artifact" });

export type ArtifactRecord = z.infer<typeof artifactRecord>;

export interface ArtifactFilters {
  readonly workspace?: string | undefined;
  readonly artifact_type?: string | undefined;
  /** Part of the name or path. */
  readonly search?: string | undefined;
  readonly run?: string | undefined;
}

/**
 * The artifacts that match the filters, newest first unless the page says otherwise; `verify` checks whether each one
 * still exists. Reference 1.6.
 */
export async function listArtifacts(
  deps: ListDeps & FileDeps,
  { search, ...fields }: ArtifactFilters,
  page: OrderedPageRequest,
  verify: boolean,
): Promise<Listing<ArtifactRecord>> {
  const filters: Filter[] = [PRESENT];
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined) filters.push({ field, value });
  if (search !== undefined) filters.push({ contains: search });
  const { total, items } = await readList(deps, artifactList, filters, page);
  return { total, items: records(deps, items, verify) };
}

async function* records(
  deps: FileDeps,
  pages: AsyncIterable<readonly StoredArtifact[]>,
  verify: boolean,
): AsyncGenerator<ArtifactRecord[]> {
  for await (const page of pages) {
    const shown: ArtifactRecord[] = [];
    for (const stored of page) {
      const { pk: _pk, sk: _sk, list_token: _mark, ...record } = stored;
      if (!verify) shown.push(record);
      else {
        const kind = await kindAt(deps, record.workspace, record.artifact_path);
        shown.push({ ...record, path_exists: kind !== undefined, path_is_dir: kind === "folder" });
      }
    }
    yield shown;
  }
}
