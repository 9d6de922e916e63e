import { createHash } from "node:crypto";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import type { Definition } from "../schema/types.ts";
import { ensureRules } from "./schedule-rules.ts";
import {
  catalogWrites,
  headKey,
  revisionKey,
  revisionsTable,
  WORKFLOW_LIST,
  type WorkflowHead,
  type WorkflowRevision,
  workflowsTable,
} from "./table.ts";
import { scheduleRemovals, scheduleWrites } from "./trigger-rows.ts";

/** Maximum size of a definition stored in its item, bytes; a larger one is stored in a blob. */
const DEFINITION_INLINE_BYTES = 150 * 1024;
/** Longest workflow name, characters. */
const NAME_MAX_LENGTH = 128;
/** Maximum number of cron triggers that one transaction changes together with the workflow. */
const SCHEDULE_WRITES_MAX = 80;

export interface SaveRequest {
  readonly definition: Definition;
  readonly yaml: string;
  readonly source: "api" | "file";
  readonly filePath?: string;
  /** Checksum of the extended workflow: the same text with another parent is another workflow. */
  readonly inherited?: string;
  /** The revision that the text was made from, 0 for a new workflow: if another is stored, saving is a `conflict`. */
  readonly basedOn?: number;
}

export interface SaveResult {
  readonly head: WorkflowHead;
  /** False if the same text was already stored: nothing was written. */
  readonly changed: boolean;
}

export type DefinitionDeps = Pick<Ports, "tables" | "blobs" | "clock" | "scheduler" | "log">;

/** Stores a definition as the newest revision of its name; storing the same text again changes nothing. */
export async function saveWorkflow(deps: DefinitionDeps, request: SaveRequest): Promise<SaveResult> {
  const { definition } = request;
  const checksum = createHash("sha256")
    .update(request.yaml)
    .update(request.inherited ?? "")
    .digest("hex");
  const save = async (): Promise<SaveResult | typeof CONFLICT> => {
    const before = await deps.tables.get(workflowsTable, headKey(definition.name));
    if (before !== undefined && isKnown(before, request, checksum)) {
      return { head: await followFile(deps, before, request), changed: false };
    }
    requireBase(before, request);
    const now = new Date(deps.clock.now()).toISOString();
    const revision = (before?.revision ?? 0) + 1;
    const head: WorkflowHead = {
      ...headKey(definition.name),
      ...summary(definition),
      revision,
      checksum,
      source: request.source,
      file_path: request.filePath ?? before?.file_path ?? "",
      file_checksum: request.source === "file" ? checksum : (before?.file_checksum ?? ""),
      created_at: before?.created_at ?? now,
      updated_at: now,
      deleted: false,
      list: WORKFLOW_LIST,
    };
    const writes: Write[] = [
      {
        op: "put",
        table: workflowsTable,
        item: head,
        when: before === undefined ? [["pk", "missing"]] : unmoved(before),
      },
      { op: "put", table: revisionsTable, item: await revisionItem(deps, request, revision, checksum, now) },
      ...catalogWrites(deps),
      ...(await scheduleWrites(deps, definition.name, definition.triggers)),
    ];
    if (writes.length > SCHEDULE_WRITES_MAX)
      throw new ApiError("bad_request", "triggers: too many changes in one request");
    if (!(await deps.tables.write(writes)).ok) return CONFLICT;
    await ensureRules(deps, definition.triggers);
    return { head, changed: true };
  };
  return retryOnConflict(save, {
    exceeded: () =>
      new ApiError("conflict", `The workflow ${definition.name} is being changed concurrently, try again`),
  });
}

function requireBase(before: WorkflowHead | undefined, { definition, basedOn }: SaveRequest): void {
  if (basedOn === undefined) return;
  const stored = before === undefined || before.deleted ? 0 : before.revision;
  if (stored === basedOn) return;
  const found = stored === 0 ? "there is no such workflow" : `its newest revision is ${stored}`;
  throw new ApiError("conflict", `revision: the workflow ${definition.name} is not at ${basedOn}, ${found}`);
}

/** An unchanged file is not read again: changes and deletions by request are kept. */
function isKnown(before: WorkflowHead, { source }: SaveRequest, checksum: string): boolean {
  return source === "file"
    ? before.file_checksum === checksum
    : !before.deleted && before.checksum === checksum;
}

/** Conditions that fail if the workflow was stored or deleted meanwhile. */
function unmoved(head: WorkflowHead): Condition[] {
  return [
    ["revision", "=", head.revision],
    ["deleted", "=", head.deleted],
  ];
}

/** Updates the path after a file was renamed; with the old path, the workflow would be deleted with the old file. */
async function followFile(
  deps: DefinitionDeps,
  head: WorkflowHead,
  { source, filePath }: SaveRequest,
): Promise<WorkflowHead> {
  if (source !== "file" || head.source !== "file" || head.deleted) return head;
  if (filePath === undefined || filePath === head.file_path) return head;
  const change = { set: { file_path: filePath } };
  return (await deps.tables.update(workflowsTable, headKey(head.name), change, unmoved(head))) ?? head;
}

function summary(definition: Definition) {
  return {
    name: definition.name,
    kind: definition.kind,
    description: definition.description,
    tags: definition.tags,
    hidden: definition.hidden,
    triggers: definition.triggers,
    step_count: definition.steps.length,
    module_count: definition.modules.length,
    ...(definition.extends === undefined ? {} : { extends: definition.extends }),
    params: definition.params.map(({ name, type, required, default: value }) => ({
      name,
      type,
      required,
      ...(value === undefined ? {} : { default: value }),
    })),
  };
}

async function revisionItem(
  deps: DefinitionDeps,
  request: SaveRequest,
  revision: number,
  checksum: string,
  now: string,
): Promise<WorkflowRevision> {
  const { definition, yaml } = request;
  const item = {
    ...revisionKey(definition.name, revision),
    name: definition.name,
    revision,
    checksum,
    created_at: now,
  };
  const json = JSON.stringify({ definition, yaml });
  if (Buffer.byteLength(json) <= DEFINITION_INLINE_BYTES) return { ...item, json };
  const blob = `workflows/${createHash("sha256").update(json).digest("hex")}`;
  await deps.blobs.put(blob, json);
  return { ...item, blob };
}

/**
 * Deletes a workflow. Its revisions stay for the runs that use them. With `fileGone` the same file restores it when it
 * reappears. Throws `not_found`.
 */
export async function deleteWorkflow(deps: DefinitionDeps, name: string, fileGone = false): Promise<void> {
  const head = await findNamed(deps, name);
  if (head === undefined)
    throw new ApiError("not_found", `Workflow not found: ${name.slice(0, NAME_MAX_LENGTH)}`);
  const { list: _list, ...rest } = head;
  const deleted: WorkflowHead = {
    ...rest,
    deleted: true,
    triggers: [],
    file_checksum: fileGone ? "" : rest.file_checksum,
    updated_at: new Date(deps.clock.now()).toISOString(),
  };
  const outcome = await deps.tables.write([
    {
      op: "put",
      table: workflowsTable,
      item: deleted,
      when: unmoved(head),
    },
    ...catalogWrites(deps),
    ...(await scheduleRemovals(deps, name)),
  ]);
  if (!outcome.ok) throw new ApiError("conflict", `The workflow ${name} was changed concurrently, try again`);
}

/** The newest revision's summary of the workflow with exactly this name. */
export async function findNamed(
  deps: Pick<Ports, "tables">,
  name: string,
): Promise<WorkflowHead | undefined> {
  if (name === "" || name.length > NAME_MAX_LENGTH) return undefined;
  const head = await deps.tables.get(workflowsTable, headKey(name));
  return head === undefined || head.deleted ? undefined : head;
}

export interface LoadedRevision {
  readonly definition: Definition;
  readonly yaml: string;
}

/** Loads a stored revision. Throws `not_found`. */
export async function loadRevision(
  deps: Pick<Ports, "tables" | "blobs">,
  name: string,
  revision: number,
): Promise<LoadedRevision> {
  const item = await deps.tables.get(revisionsTable, revisionKey(name, revision));
  if (item?.json !== undefined) return JSON.parse(item.json) as LoadedRevision;
  const bytes = item?.blob === undefined ? undefined : await deps.blobs.get(item.blob);
  if (bytes === undefined)
    throw new ApiError("not_found", `Workflow not found: ${name} revision ${revision}`);
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as LoadedRevision;
}

/** Definitions by name and revision, cached: a revision never changes. */
export interface Definitions {
  get(name: string, revision: number): Promise<Definition>;
}

const CACHED_DEFINITIONS_MAX = 200;

export function cachedDefinitions(deps: Pick<Ports, "tables" | "blobs">): Definitions {
  const cache = new Map<string, Promise<Definition>>();
  return {
    get: (name, revision) => {
      const key = `${revision} ${name}`;
      const known = cache.get(key);
      if (known !== undefined) {
        cache.delete(key);
        cache.set(key, known);
        return known;
      }
      const loading = loadRevision(deps, name, revision).then(({ definition }) => definition);
      cache.set(key, loading);
      loading.catch(() => cache.delete(key));
      const oldest = cache.keys().next();
      if (cache.size > CACHED_DEFINITIONS_MAX && oldest.done !== true) cache.delete(oldest.value);
      return loading;
    },
  };
}

/** All stored workflows, by name. */
export const allWorkflows = (deps: Pick<Ports, "tables">): Promise<WorkflowHead[]> =>
  readAll(deps, workflowsTable, { index: "list", pk: WORKFLOW_LIST });
