import type { EventDraft, EventEffects } from "../../events/publish.ts";
import { canonicalTopic } from "../../events/topic-match.ts";
import type { Attribute, Write } from "../../platform/tables.ts";
import { markWrite } from "../lists/table.ts";
import type { Numbers } from "../runs/numbers.ts";
import { assetKey, assetList, assetsTable } from "./table.ts";

/** Keys of an event's data that name the asset; the first that is there counts. */
const VALUE_KEYS = ["asset_value", "value", "url", "host"] as const;
/** Longest asset value, bytes. */
const ASSET_VALUE_MAX_BYTES = 8 * 1024;
/** Fields of one asset taken over from one event, and the size of each and of all as JSON, characters. */
const FIELDS_MAX = 60;
const FIELD_MAX_LENGTH = 16 * 1024;
const FIELDS_MAX_LENGTH = 64 * 1024;
/** Longest name of such a field, characters, and how deep its values may go: an item takes no more. */
const NAME_MAX_LENGTH = 128;
const DEPTH_MAX = 24;
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "pk",
  "sk",
  "id",
  "listed_mark",
  "workspace",
  "asset_value",
  "created_at",
  "updated_at",
  "last_seen_at",
]);
const TEXT_FIELDS: ReadonlySet<string> = new Set(["asset_type", "source"]);

/** What an event that tells of an asset writes besides its record: the asset, and its mark. Reference 6. */
export function assetEffects(deps: { readonly assetNumbers: Numbers }): EventEffects {
  return {
    writesFor: async (event, createdAt) => {
      if (canonicalTopic(event.topic) !== "asset.discovered") return [];
      const value = assetValue(event.data);
      return value === undefined ? [] : upsert(deps, event, value, createdAt);
    },
  };
}

function assetValue(data: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of VALUE_KEYS) {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (typeof value === "string" && value.trim() !== "" && Buffer.byteLength(value) <= ASSET_VALUE_MAX_BYTES)
      return value;
  }
  return undefined;
}

async function upsert(
  deps: { readonly assetNumbers: Numbers },
  event: EventDraft,
  value: string,
  now: string,
): Promise<Write[]> {
  const workspace = event.workspace || textOf(event.data["workspace"]) || "default";
  const fields = fieldsOf(event.data);
  const id = await deps.assetNumbers.next();
  const key = assetKey(workspace, value);
  // No two events get the same number.
  const listed_mark = String(id);
  const update: Write = {
    op: "update",
    table: assetsTable,
    key,
    change: {
      set: { ...fields, updated_at: now, last_seen_at: now, workspace, asset_value: value, listed_mark },
      setIfMissing: {
        id,
        created_at: now,
        ...("asset_type" in fields ? {} : { asset_type: guessType(value) }),
        ...("source" in fields ? {} : { source: event.source }),
      },
    },
  };
  return [update, markWrite(assetList.name, key.pk, listed_mark)];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The asset's further fields as the event gave them; empty ones hide nothing that is known. */
function fieldsOf(data: Readonly<Record<string, unknown>>): Record<string, Attribute> {
  const fields: Record<string, Attribute> = {};
  let left = FIELDS_MAX_LENGTH;
  for (const [name, value] of Object.entries(data).slice(0, FIELDS_MAX)) {
    if (OWN_FIELDS.has(name) || name === "__proto__" || value === null || value === "") continue;
    if (name === "" || name.length > NAME_MAX_LENGTH || (TEXT_FIELDS.has(name) && typeof value !== "string"))
      continue;
    const length = JSON.stringify(value).length;
    if (length > Math.min(FIELD_MAX_LENGTH, left) || isDeeper(value, DEPTH_MAX)) continue;
    fields[name] = value as Attribute;
    left -= length;
  }
  return fields;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** Reference 6: http(s) is a url, an address an ip, `a/b` a repository, a dotted name a domain. */
function guessType(value: string): string {
  if (/^https?:\/\//i.test(value)) return "url";
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(value) || /^[0-9a-f:]*:[0-9a-f:]+$/i.test(value)) return "ip";
  if (/^[\w.-]+\/[\w.-]+$/.test(value)) return "repo_name";
  return /^[\w-]+(?:\.[\w-]+)+$/.test(value) ? "domain" : "unknown";
}
