import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { type EventDeps, type EventDraft, emitEvents } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { assetFields, assetValue, isOwnAssetField } from "../assets/asset-fields.ts";
import { assetKey, assetsTable } from "../assets/table.ts";
import { WORKSPACE_NAME_MAX_LENGTH } from "../findings/event-effects.ts";
import type { StoredRun } from "../runs/table.ts";
import {
  IDENTITY_FIELDS,
  identityOf,
  vulnerabilitiesTable,
  vulnerabilityKey,
} from "../vulnerabilities/table.ts";
import { isOwnVulnerabilityField, vulnerabilityFields } from "../vulnerabilities/vulnerability-effects.ts";

const KEY_MAX_CHARS = 8 * 1024;
const FIELD_MAX_CHARS = 128;

const key = z.string().min(1, "must not be empty").max(KEY_MAX_CHARS);
const field = z.string().min(1, "must not be empty").max(FIELD_MAX_CHARS);

export const writeQuery = z.discriminatedUnion("of", [
  z.object({
    of: z.literal("new asset"),
    /** Empty: the run's own workspace. */
    workspace: z.string().max(WORKSPACE_NAME_MAX_LENGTH),
    data: z.record(z.string(), z.unknown()),
  }),
  z.object({
    of: z.literal("new value"),
    table: z.enum(["assets", "vulnerabilities"], "must be assets or vulnerabilities"),
    key,
    field,
    value: z.unknown(),
  }),
]);
type WriteQuery = z.infer<typeof writeQuery>;

/** Reads records as event effects do: the conductor's role permits no more. */
export type WriteDeps = EventDeps & Pick<Ports, "tables">;

/**
 * Writes a record for a script immediately, through an event as all records. Returns its id; idempotent. Throws
 * `bad_request`, `not_found`. Reference 3, database.
 */
export async function writeRecord(
  deps: WriteDeps,
  run: StoredRun,
  query: WriteQuery,
): Promise<{ readonly id: number }> {
  if (query.of === "new value")
    return query.table === "assets" ? updateAsset(deps, run, query) : updateVulnerability(deps, run, query);
  const value = assetValue(query.data);
  if (value === undefined)
    throw new ApiError("bad_request", "json: no asset field (`asset_value`, `value`, `url` or `host`)");
  const workspace = query.workspace || run.workspace;
  await emitEvents(deps, [draftOf(run, "asset", workspace, query.data)]);
  const [asset] = await deps.tables.batchGet(assetsTable, [assetKey(workspace, value)]);
  if (asset === undefined) throw new ApiError("conflict", "The asset could not be recorded, try again");
  return { id: asset.id };
}

type NewValue = Extract<WriteQuery, { of: "new value" }>;

/** Finds an asset of the run's workspace by its value. */
async function updateAsset(
  deps: WriteDeps,
  run: StoredRun,
  { key: asset_value, field: name, value }: NewValue,
) {
  const [asset] = await deps.tables.batchGet(assetsTable, [assetKey(run.workspace, asset_value)]);
  if (asset === undefined)
    throw new ApiError("not_found", "key: the run's workspace has no asset with this value");
  if (isOwnAssetField(name)) throw refused(name);
  checkTaken(name, assetFields({ [name]: value }));
  await emitEvents(deps, [draftOf(run, "asset", run.workspace, { asset_value, [name]: value })]);
  return { id: asset.id };
}

/** Finds a vulnerability of any workspace by its id. */
async function updateVulnerability(
  deps: WriteDeps,
  run: StoredRun,
  { key: id, field: name, value }: NewValue,
) {
  if (!/^\d{1,15}$/.test(id)) throw new ApiError("bad_request", "key: must be the id of a vulnerability");
  const [known] = await deps.tables.batchGet(vulnerabilitiesTable, [vulnerabilityKey(Number(id))]);
  if (known === undefined) throw new ApiError("not_found", "key: the vulnerability does not exist");
  const all = known as unknown as Readonly<Record<string, unknown>>;
  if (isOwnVulnerabilityField(name) || IDENTITY_FIELDS.some((one) => one === name)) throw refused(name);
  checkTaken(name, vulnerabilityFields({ [name]: value }));
  const identity = Object.fromEntries(IDENTITY_FIELDS.map((one) => [one, all[one]]));
  if (identityOf(known.workspace, identity) !== known.identity)
    throw new ApiError("conflict", "key: the identity of the vulnerability has changed");
  await emitEvents(deps, [draftOf(run, "vulnerability", known.workspace, { ...identity, [name]: value })]);
  return { id: known.id };
}

function checkTaken(name: string, taken: Readonly<Record<string, unknown>>): void {
  if (!Object.hasOwn(taken, name))
    throw new ApiError("bad_request", `value: is empty, too long or of the wrong type for ${name}`);
}

const refused = (name: string): ApiError => new ApiError("bad_request", `field: ${name} cannot be changed`);

function draftOf(
  run: StoredRun,
  effect: "asset" | "vulnerability",
  workspace: string,
  data: EventDraft["data"],
): EventDraft {
  return {
    topic: effect === "asset" ? "asset.discovered" : "vuln.found",
    source: "executor",
    data_type: effect,
    workspace,
    effect,
    data,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    hop: run.hop + 1,
  };
}
