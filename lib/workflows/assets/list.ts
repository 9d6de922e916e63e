import * as z from "zod";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { Filter } from "../../ranked-index/view.ts";
import type { ListDeps } from "../lists/list.ts";
import { DEFAULT_ORG } from "../lists/organization.ts";
import { mapped, readList } from "../lists/read-list.ts";
import { assetList, type StoredAsset } from "./table.ts";

/** An asset in responses; additional fields are as reported. Reference 6. */
export const assetRecord = z
  .looseObject({
    id: z.int(),
    workspace: z.string(),
    org_uuid: z.string(),
    asset_value: z.string(),
    asset_type: z.string(),
    source: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    last_seen_at: z.string(),
  })
  .meta({ id: "Asset" });
export type AssetRecord = z.infer<typeof assetRecord>;

export interface AssetFilters {
  readonly workspace?: string | undefined;
  readonly asset_type?: string | undefined;
  readonly source?: string | undefined;
  readonly status_code?: string | undefined;
  /** Part of the value, url, title or host address; case-insensitive. */
  readonly search?: string | undefined;
}

/** The assets that match the filters, newest first unless the page says otherwise. Seed: workflow 4. */
export async function listAssets(
  deps: ListDeps,
  { search, ...fields }: AssetFilters,
  page: OrderedPageRequest,
): Promise<Listing<AssetRecord>> {
  const filters: Filter[] = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value }],
  );
  if (search !== undefined) filters.push({ contains: search });
  return mapped(await readList(deps, assetList, filters, page), toRecord);
}

function toRecord(asset: StoredAsset): AssetRecord {
  const { pk: _pk, sk: _sk, list_token: _mark, revision: _revision, ...record } = asset;
  return { ...record, org_uuid: DEFAULT_ORG };
}
