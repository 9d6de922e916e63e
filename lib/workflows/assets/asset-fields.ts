import { hasControlCharacter } from "../../events/control-characters.ts";
import type { Attribute } from "../../platform/tables.ts";
import { acceptedFields } from "../findings/finding-fields.ts";

/** Fields that identify an asset; the first present one is used. */
const VALUE_KEYS = ["asset_value", "value", "url", "host"] as const;
/** Longest asset value, bytes. */
const ASSET_VALUE_MAX_BYTES = 8 * 1024;
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "pk",
  "sk",
  "id",
  "org_uuid",
  "list_token",
  "revision",
  "workspace",
  "asset_value",
  "created_at",
  "updated_at",
  "last_seen_at",
]);
const TEXT_FIELDS: ReadonlySet<string> = new Set(["asset_type", "source"]);
/** Fields that terminals and reports show without escaping. */
const LABELS: ReadonlySet<string> = new Set([
  "asset_type",
  "source",
  "title",
  "webserver",
  "scheme",
  "method",
  "path",
  "location",
  "content_type",
  "url",
  "input",
  "host",
  "host_ip",
  "port",
]);

/** The asset's value; undefined if no field contains it. */
export function assetValue(data: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of VALUE_KEYS) {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (typeof value !== "string" || value.trim() === "" || hasControlCharacter(value)) continue;
    if (Buffer.byteLength(value) <= ASSET_VALUE_MAX_BYTES) return value;
  }
  return undefined;
}

/** The asset's additional fields as reported; empty ones do not overwrite known values. */
export const assetFields = (data: Readonly<Record<string, unknown>>): Record<string, Attribute> =>
  acceptedFields(data, OWN_FIELDS, TEXT_FIELDS, LABELS);

/** Whether the field identifies the asset or is maintained by Weft, so that events do not change it. */
export const isOwnAssetField = (name: string): boolean => OWN_FIELDS.has(name);

/** Reference 6: http(s) is a url, an IP address an ip, `a/b` a repository, a dotted name a domain. */
export function guessType(value: string): string {
  if (/^https?:\/\//i.test(value)) return "url";
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(value) || /^[0-9a-f:]*:[0-9a-f:]+$/i.test(value)) return "ip";
  if (/^[\w.-]+\/[\w.-]+$/.test(value)) return "repo_name";
  return /^[\w-]+(?:\.[\w-]+)+$/.test(value) ? "domain" : "unknown";
}
