import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type RecordEffects, type RecordEvent, workspaceOf } from "../findings/event-effects.ts";
import { textOf } from "../findings/finding-fields.ts";
import { pendingWrite } from "../lists/table.ts";
import { contentTypeOf, isInsidePath } from "./artifact-paths.ts";
import {
  ARTIFACT_TYPES,
  type ArtifactType,
  artifactKey,
  artifactList,
  artifactsTable,
  type StoredArtifact,
} from "./table.ts";

const TEXT_MAX_LENGTH = 1_000;

/** Registers artifacts: an existing path is updated and belongs to the newest run. Publishes no events. */
export async function applyArtifactEvents(
  deps: Pick<Ports, "tables" | "ids">,
  events: readonly RecordEvent[],
  at: string,
): Promise<RecordEffects> {
  const named = new Map(events.map(({ at: index }) => [index, undefined] as const));
  const candidates = events.flatMap(({ draft }) => {
    const path = textOf(draft.data.artifact_path);
    if (!isInsidePath(path)) return [];
    const workspace = workspaceOf(draft);
    return [{ draft, path, workspace, key: artifactKey(workspace, path) }];
  });
  const keys = new Map(candidates.map(({ key }) => [key.pk, key]));
  const known = await deps.tables.batchGet(artifactsTable, [...keys.values()]);
  const byKey = new Map(known.map((one) => [one.pk, one]));
  const items = new Map<string, StoredArtifact>();
  for (const { draft, path, workspace, key } of candidates) {
    const before = items.get(key.pk) ?? byKey.get(key.pk);
    const { data, run_id = "" } = draft;
    items.set(key.pk, {
      ...key,
      id: before?.id ?? deps.ids.random(),
      run_id: run_id || (before?.run_id ?? ""),
      workspace,
      name: (textOf(data.name) || (path.split("/").at(-1) ?? "")).slice(0, TEXT_MAX_LENGTH),
      artifact_path: path,
      artifact_type: typeOf(data.artifact_type) ?? before?.artifact_type ?? "output",
      content_type: contentTypeOf(path, data.is_folder === true, textOf(data.content_type)),
      size_bytes: countOf(data.size_bytes),
      line_count: countOf(data.line_count),
      optional: data.optional === true,
      description: textOf(data.description).slice(0, TEXT_MAX_LENGTH) || (before?.description ?? ""),
      created_at: before?.created_at ?? at,
      updated_at: at,
      list_token: deps.ids.random(),
    });
  }
  const writes = [...items.values()].flatMap((item): Write[] => {
    const before = byKey.get(item.pk);
    const when =
      before === undefined ? (["pk", "missing"] as const) : (["list_token", "=", before.list_token] as const);
    return [
      { op: "put", table: artifactsTable, item, when: [when] },
      pendingWrite(artifactList.name, item.pk, item.list_token),
    ];
  });
  return { named, writes, workspaces: [...items.values()].map(({ workspace }) => ({ workspace })) };
}

function typeOf(value: unknown): ArtifactType | undefined {
  return ARTIFACT_TYPES.find((type) => type === value);
}

const countOf = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0);
