import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { compareBy } from "../lists/compare-by.ts";
import { cachedFilter } from "../lists/filter-cache.ts";
import { describeProblem } from "../schema/problems.ts";
import type { DefinitionDeps } from "../store/store.ts";
import type { WorkflowHead } from "../store/table.ts";
import { unwatchableTriggers, type WatchingDeps } from "../watches/unwatchable-paths.ts";
import { lintDefinition } from "./lint.ts";
import { type ParsedWorkflow, parseStored, saveWithDescendants } from "./save-text.ts";

/** A workflow as shown in lists. */
export const workflowRecord = z
  .object({
    name: z.string(),
    kind: z.enum(["module", "flow"]),
    description: z.string(),
    tags: z.array(z.string()),
    hidden: z.boolean(),
    revision: z.int(),
    checksum: z.string().describe("SHA-256 of the text"),
    source: z.enum(["api", "file"]),
    file_path: z.string(),
    step_count: z.int(),
    module_count: z.int(),
    trigger_count: z.int(),
    params: z.array(
      z.object({ name: z.string(), type: z.string(), required: z.boolean(), default: z.string().optional() }),
    ),
    required_params: z.array(z.string()),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Workflow" });

export const saveResponse = z
  .object({
    message: z.string(),
    name: z.string(),
    kind: z.enum(["module", "flow"]),
    description: z.string(),
    revision: z.int(),
    warnings: z.array(z.string()),
  })
  .meta({ id: "SavedWorkflow" });

export function toWorkflowRecord(head: WorkflowHead): z.infer<typeof workflowRecord> {
  return {
    name: head.name,
    kind: head.kind,
    description: head.description,
    tags: [...head.tags],
    hidden: head.hidden,
    revision: head.revision,
    checksum: head.checksum,
    source: head.source,
    file_path: head.file_path,
    step_count: head.step_count,
    module_count: head.module_count,
    trigger_count: head.triggers.length,
    params: head.params.map((param) => ({ ...param })),
    required_params: head.params.filter(({ required }) => required).map(({ name }) => name),
    created_at: head.created_at,
    updated_at: head.updated_at,
  };
}

/**
 * Stores a workflow from a request's body: YAML, a definition as JSON, or `{yaml: "…"}`. Throws `bad_request` with
 * line and column, and `conflict` if `basedOn` is given and is not the newest revision.
 */
export async function uploadWorkflow(
  deps: DefinitionDeps & WatchingDeps,
  body: { readonly text: string; readonly contentType: string },
  basedOn?: number,
): Promise<z.infer<typeof saveResponse>> {
  const source = readSource(body);
  const parsed = await parseStored(deps, source.parse);
  if (!parsed.ok) throw new ApiError("bad_request", parsed.errors.map(describeProblem).join("; "));
  const { head } = await saveWithDescendants(deps, parsed, {
    yaml: source.text,
    source: "api",
    ...(basedOn === undefined ? {} : { basedOn }),
  });
  return {
    message: "Workflow saved",
    name: head.name,
    kind: head.kind,
    description: head.description,
    revision: head.revision,
    warnings: await warningsOf(deps, parsed),
  };
}

const problem = z.object({
  message: z.string(),
  path: z.string().optional().describe("Where in the workflow: `steps[0].name`"),
  line: z.int().optional(),
  column: z.int().optional(),
});

export const validateResponse = z
  .object({
    valid: z.boolean(),
    name: z.string(),
    kind: z.enum(["module", "flow", ""]),
    errors: z.array(problem),
    warnings: z.array(z.string()),
  })
  .meta({ id: "ValidatedWorkflow" });

/** Validates a workflow without storing it. With `strict`, unknown keys are errors. */
export async function validateWorkflow(
  deps: Pick<Ports, "tables" | "blobs"> & WatchingDeps,
  body: { readonly text: string; readonly contentType: string },
  strict: boolean,
): Promise<z.infer<typeof validateResponse>> {
  const parsed = await parseStored(deps, readSource(body).parse, { strict });
  if (!parsed.ok)
    return {
      valid: false,
      name: "",
      kind: "",
      errors: parsed.errors.map((one) => ({ ...one })),
      warnings: await warningsOf(deps, parsed),
    };
  const { name, kind } = parsed.definition;
  return { valid: true, name, kind, errors: [], warnings: await warningsOf(deps, parsed) };
}

async function warningsOf(deps: WatchingDeps, { warnings, definition }: ParsedWorkflow): Promise<string[]> {
  if (definition === undefined) return [...warnings];
  const unwatched = await unwatchableTriggers(deps, definition.triggers);
  return [...warnings, ...lintDefinition(definition), ...unwatched];
}

const YAML_TYPES: ReadonlySet<string> = new Set([
  "application/yaml",
  "application/x-yaml",
  "text/yaml",
  "text/x-yaml",
  "text/plain",
]);
const EITHER_TYPES: ReadonlySet<string> = new Set([
  "",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
]);

function readSource({ text, contentType }: { text: string; contentType: string }): {
  parse: string | { json: unknown };
  text: string;
} {
  if (text.trim() === "") throw new ApiError("bad_request", "body: must be a workflow, but is empty");
  if (YAML_TYPES.has(contentType)) return { parse: text, text };
  const either = EITHER_TYPES.has(contentType);
  if (either && !text.trimStart().startsWith("{")) return { parse: text, text };
  if (!either && !/^application\/(?:[\w.+-]*\+)?json$/.test(contentType)) {
    throw new ApiError(
      "bad_request",
      `content-type: must be application/yaml or application/json, not ${contentType.slice(0, 100)}`,
    );
  }
  const json = parsedJson(text);
  const yaml = (json as { yaml?: unknown } | null)?.yaml;
  if (
    typeof json === "object" &&
    json !== null &&
    Object.keys(json).length === 1 &&
    typeof yaml === "string"
  ) {
    return { parse: yaml, text: yaml };
  }
  return { parse: { json }, text };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "body: must be valid JSON");
  }
}

export const WORKFLOW_ORDERINGS = [
  "name",
  "-name",
  "created_at",
  "-created_at",
  "updated_at",
  "-updated_at",
  "step_count",
  "-step_count",
  "trigger_count",
  "-trigger_count",
] as const;

export interface WorkflowFilters {
  /** By name if it is undefined. */
  readonly ordering?: (typeof WORKFLOW_ORDERINGS)[number] | undefined;
  readonly kind?: string | undefined;
  readonly tags?: string | undefined;
  readonly search?: string | undefined;
}

/** Whether a workflow matches the filters; hidden workflows do not. Reference 1.3. */
export function isListed(head: WorkflowHead, { kind, tags, search }: WorkflowFilters): boolean {
  if (head.hidden) return false;
  if (kind !== undefined && head.kind !== kind) return false;
  const wanted = tags
    ?.split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  if (wanted !== undefined && wanted.length > 0 && !wanted.some((tag) => head.tags.includes(tag)))
    return false;
  return (
    search === undefined || `${head.name}\n${head.description}`.toLowerCase().includes(search.toLowerCase())
  );
}

function sortValue({ name, triggers, ...head }: WorkflowHead, field: string): string | number {
  if (field === "trigger_count") return triggers.length;
  if (field === "step_count") return head.step_count;
  return field === "created_at" || field === "updated_at" ? head[field] : name;
}

/** The workflows that match, in the order asked for. */
export const listedHeads = cachedFilter(isListed, ({ ordering = "name" }: WorkflowFilters) =>
  ordering === "name" ? undefined : compareBy<WorkflowHead>(ordering, sortValue),
);
