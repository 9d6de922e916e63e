import type { EventDraft } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type RecordEffects, type RecordEvent, workspaceOf } from "../findings/event-effects.ts";
import { changedFields } from "../findings/finding-fields.ts";
import type { NumberSequence } from "../lists/number-sequence.ts";
import { batchPendingWrite, pendingWrite } from "../lists/table.ts";
import type { WorkspaceChange } from "../workspaces/workspace-records.ts";
import { assetFields, assetValue, guessType } from "./asset-fields.ts";
import type { Facets } from "./facets.ts";
import { assetKey, assetList, assetsTable, type StoredAsset } from "./table.ts";

export interface AssetDeps extends Pick<Ports, "tables" | "ids"> {
  readonly assetNumbers: NumberSequence;
  readonly assetFacets: Facets;
}

/** One asset of a commit: its previous state, its new state, and the changes. */
interface Case {
  readonly before: StoredAsset | undefined;
  now: StoredAsset | undefined;
  readonly changed: Set<string>;
}

/**
 * Creates and updates assets. Adds new ones; empty values do not overwrite, and own fields are kept. An event that has
 * a topic is kept; a reported record becomes `asset.discovered`, `asset.updated` or no event. Reference 6.
 */
export async function applyAssetEvents(
  deps: AssetDeps,
  events: readonly RecordEvent[],
  at: string,
): Promise<RecordEffects> {
  const named = new Map<number, EventDraft | undefined>();
  const candidates = events.flatMap((event) => {
    const value = assetValue(event.draft.data);
    if (value !== undefined) {
      const workspace = workspaceOf(event.draft);
      return [{ ...event, workspace, value, key: assetKey(workspace, value) }];
    }
    if (event.draft.effect !== undefined) named.set(event.at, undefined);
    return [];
  });
  const keys = new Map(candidates.map(({ key }) => [key.pk, key]));
  const known = await deps.tables.batchGet(assetsTable, [...keys.values()]);
  const byKey = new Map(known.map((asset) => [asset.pk, asset]));
  const cases = new Map<string, Case>();
  for (const { at: index, draft, workspace, value, key } of candidates) {
    const before = byKey.get(key.pk);
    const one = cases.get(key.pk) ?? { before, now: before, changed: new Set<string>() };
    cases.set(key.pk, one);
    const { now } = one;
    const fields = assetFields(draft.data);
    const changed = now === undefined ? [] : changedFields(asRecord(now), fields);
    for (const name of changed) one.changed.add(name);
    one.now =
      now === undefined
        ? {
            asset_type: guessType(value),
            source: draft.source,
            ...fields,
            ...key,
            id: await deps.assetNumbers.next(),
            workspace,
            asset_value: value,
            created_at: at,
            updated_at: at,
            last_seen_at: at,
            list_token: deps.ids.random(),
            revision: 1,
          }
        : { ...now, ...fields };
    if (draft.effect !== undefined)
      named.set(index, nameOf(draft, fields, one.now, now === undefined, changed));
  }
  const writes: Write[] = [];
  const workspaces: WorkspaceChange[] = [];
  const made: StoredAsset[] = [];
  for (const one of cases.values()) {
    const { before, now } = one;
    if (now === undefined) continue;
    writes.push(...writesOf(deps, one, at));
    if (before !== undefined) continue;
    made.push(now);
    workspaces.push({ workspace: now.workspace, add: { total_assets: 1 } });
  }
  writes.push(...marksOf(deps, made));
  await deps.assetFacets.note(
    [...cases.values()].flatMap(({ before, now, changed }) =>
      now !== undefined && (before === undefined || changed.size > 0) ? [now] : [],
    ),
  );
  return { named, writes, workspaces };
}

const asRecord = (asset: StoredAsset) => asset as unknown as Readonly<Record<string, unknown>>;

/** The event for a created or updated asset; undefined if it did not change. */
function nameOf(
  draft: EventDraft,
  fields: EventDraft["data"],
  { workspace, asset_value, asset_type }: StoredAsset,
  isNew: boolean,
  changed: readonly string[],
): EventDraft | undefined {
  if (!isNew && changed.length === 0) return undefined;
  const base = { ...fields, asset_value, asset_type, workspace };
  const { effect: _effect, ...rest } = draft;
  if (isNew) {
    const data: TopicData<"asset.discovered"> = base;
    const name = `${draft.source}-asset-found`;
    return { ...rest, topic: "asset.discovered", name, data_type: "asset", workspace, data };
  }
  const data: TopicData<"asset.updated"> = { ...base, changed: [...changed] };
  const name = `${draft.source}-asset-updated`;
  return { ...rest, topic: "asset.updated", name, data_type: "asset", workspace, data };
}

function writesOf(deps: AssetDeps, { before, now, changed }: Case, at: string): Write[] {
  if (now === undefined) return [];
  const table = assetsTable;
  const { pk, sk } = now;
  if (before === undefined) return [{ op: "put", table, item: now, when: [["pk", "missing"]] }];
  if (changed.size === 0)
    return before.last_seen_at === at
      ? []
      : [{ op: "update", table, key: { pk, sk }, change: { set: { last_seen_at: at } } }];
  const all = asRecord(now);
  const set = Object.fromEntries([...changed].map((name) => [name, all[name] as string]));
  const list_token = deps.ids.random();
  const update: Write = {
    op: "update",
    table,
    key: { pk, sk },
    change: { set: { ...set, updated_at: at, last_seen_at: at, list_token, revision: before.revision + 1 } },
    when: [["revision", "=", before.revision]],
  };
  return [update, pendingWrite(assetList.name, pk, list_token)];
}

/** New assets share one pending entry, in their order, instead of one random value each. */
function marksOf(deps: AssetDeps, made: readonly StoredAsset[]): Write[] {
  const [first] = made;
  if (first === undefined) return [];
  if (made.length === 1) return [pendingWrite(assetList.name, first.pk, first.list_token)];
  return [
    batchPendingWrite(
      assetList.name,
      deps.ids.ordered(),
      made.map(({ pk }) => pk),
    ),
  ];
}
