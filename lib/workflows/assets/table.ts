import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";

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
  /** Of the mark that was written with its last change. */
  readonly listed_mark: string;
  /** Moves with every change but that of when it was last seen: the condition of the next one. */
  readonly revision: number;
}

export const assetsTable: TableSpec<StoredAsset> = { name: "assets", indexes: {} };

const ASSET_SK = "asset";

/** However long workspace and value are. */
export const assetKey = (workspace: string, value: string): Key => ({
  pk: derivedId("asset", workspace, value),
  sk: ASSET_SK,
});

/** Longest status that assets are found by, characters. */
const STATUS_MAX_LENGTH = 32;
const SEARCHED = ["asset_value", "url", "title", "host_ip"];

export const assetList: List<StoredAsset> = {
  name: "assets",
  table: assetsTable,
  sk: ASSET_SK,
  indexedFields: (asset) => {
    const { workspace, asset_type, source } = asset;
    const all = asset as unknown as Readonly<Record<string, unknown>>;
    const text = SEARCHED.map((name) => String(all[name] ?? "")).join("\n");
    const status = all.status_code;
    const fields = { workspace, asset_type, source };
    if (typeof status !== "number" && typeof status !== "string") return { fields, text, final: false };
    return {
      fields: { ...fields, status_code: String(status).slice(0, STATUS_MAX_LENGTH) },
      text,
      final: false,
    };
  },
  tokenOf: ({ listed_mark }) => listed_mark,
  orderOf: ({ created_at, id }) => `${created_at}#${String(id).padStart(12, "0")}`,
  deletesWhenGone: false,
};
