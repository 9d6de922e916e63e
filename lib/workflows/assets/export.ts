import type { ListDeps } from "../lists/list.ts";
import { type AssetFilters, type AssetRecord, listAssets } from "./list.ts";

/** Columns of an export, in order. */
const COLUMNS = [
  "id",
  "workspace",
  "asset_value",
  "asset_type",
  "url",
  "title",
  "status_code",
  "content_type",
  "content_length",
  "host_ip",
  "tech",
  "source",
  "remarks",
  "created_at",
  "updated_at",
  "last_seen_at",
] as const;
/** Maximum number of assets in an export: the newest ones. */
const EXPORT_MAX = 1_000_000;

/** The assets that match the filters as CSV (RFC 4180), newest first; list items are separated by `;`. */
export async function* assetsCsv(deps: ListDeps, filters: AssetFilters): AsyncGenerator<string> {
  const { items } = await listAssets(deps, filters, { offset: 0, limit: EXPORT_MAX });
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const page of items) yield page.map(toRow).join("");
}

function toRow(asset: AssetRecord): string {
  return `${COLUMNS.map((column) => toCell(asset[column])).join(",")}\r\n`;
}

/** A quoted cell. An apostrophe precedes text that a spreadsheet would read as a formula, even after white space. */
export function toCell(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = textOf(value);
  const guarded = /^\s*[=+\-@|%＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${guarded.replaceAll('"', '""')}"`;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(textOf).join(";");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
