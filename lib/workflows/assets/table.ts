import { derivedId } from "../../platform/ids.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import type { List } from "../lists/list.ts";

/** An asset, identified by workspace and value. Additional fields are stored as reported. */
export interface StoredAsset extends Key {
  readonly id: number;
  readonly workspace: string;
  readonly asset_value: string;
  readonly asset_type: string;
  readonly source: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seen_at: string;
  /** Id of the pending entry that was written with its last change. */
  readonly list_token: string;
  /** Incremented by every change except that of `last_seen_at`; the condition of the next change. */
  readonly revision: number;
}

export const assetsTable: TableSpec<StoredAsset> = { name: "assets", indexes: {} };

const ASSET_SK = "asset";

/** Hashed, so that workspace and value can have any length. */
export const assetKey = (workspace: string, value: string): Key => ({
  pk: derivedId("asset", workspace, value),
  sk: ASSET_SK,
});

/** Longest status that assets can be filtered by, characters. */
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
  tokenOf: ({ list_token }) => list_token,
  orderOf: ({ created_at, id }) => `${created_at}#${String(id).padStart(12, "0")}`,
  deletesWhenGone: false,
};
