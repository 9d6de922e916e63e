import type { Key, TableSpec } from "../../platform/tables.ts";

/** An asset, known by workspace and value. Fields beyond these are kept as they came. */
export interface StoredAsset extends Key {
  readonly id: number;
  readonly workspace: string;
  readonly asset_value: string;
  readonly asset_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
  readonly list: string;
  readonly listed_at: string;
}

export const assetsTable: TableSpec<StoredAsset> = {
  name: "assets",
  indexes: { list: { pk: "list", sk: "listed_at" } },
};

export const ASSET_LIST = "assets";
