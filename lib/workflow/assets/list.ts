import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import { scanList } from "../lists/scan.ts";
import { ASSET_LIST, assetsTable, type StoredAsset } from "./table.ts";

/** An asset as callers see it; further fields are as they came. Reference 6. */
export const assetRecord = z
  .looseObject({
    id: z.int(),
    workspace: z.string(),
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
  /** Part of the value, url, title or host address, in any case. */
  readonly search?: string | undefined;
}

/** Assets that fit the filters, newest first. Seed: workflow 4. */
export async function listAssets(
  deps: Pick<Ports, "tables">,
  filters: AssetFilters,
  page: { offset: number; limit: number },
): Promise<{ total: number; items: AsyncIterable<AssetRecord[]> }> {
  const found = await scanList(deps, assetsTable, ASSET_LIST, (asset) => fits(asset, filters), page);
  return { total: found.total, items: onePage(found.items.map(toRecord)) };
}

async function* onePage(records: AssetRecord[]): AsyncGenerator<AssetRecord[]> {
  yield records;
}

function fits(asset: StoredAsset, { workspace, asset_type, source, search }: AssetFilters): boolean {
  if (workspace !== undefined && asset.workspace !== workspace) return false;
  if (asset_type !== undefined && asset.asset_type !== asset_type) return false;
  if (source !== undefined && asset.source !== source) return false;
  return search === undefined || searched(asset).includes(search.toLowerCase());
}

function searched(asset: StoredAsset): string {
  const fields = asset as unknown as Readonly<Record<string, unknown>>;
  return ["asset_value", "url", "title", "host_ip"]
    .map((name) => String(fields[name] ?? ""))
    .join("\n")
    .toLowerCase();
}

function toRecord(asset: StoredAsset): AssetRecord {
  const { pk: _pk, sk: _sk, list: _list, listed_at: _listedAt, ...record } = asset;
  return record;
}
