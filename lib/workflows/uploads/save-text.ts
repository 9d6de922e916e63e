import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type ParseOptions, type ParseOutcome, parseDefinition } from "../schema/parse.ts";
import { describeProblem } from "../schema/problems.ts";
import type { Definition } from "../schema/types.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import {
  allWorkflows,
  type DefinitionDeps,
  findNamed,
  loadRevision,
  type SaveRequest,
  type SaveResult,
  saveWorkflow,
} from "../store/store.ts";
import type { WorkflowHead } from "../store/table.ts";

/** Maximum length of a chain of workflows that extend each other. */
const GENERATIONS_MAX = 16;

/** A workflow's text, or a JSON value. */
export type WorkflowSource = Parameters<typeof parseDefinition>[0];

export type ParsedWorkflow = ParseOutcome & { readonly parent?: WorkflowHead };

/** Parses a workflow together with the stored workflow that it extends. Never throws for an invalid workflow. */
export async function parseStored(
  deps: Pick<Ports, "tables" | "blobs">,
  source: WorkflowSource,
  options: ParseOptions = {},
): Promise<ParsedWorkflow> {
  const alone = parseDefinition(source, options);
  if (alone.ok || alone.wants === undefined) return alone;
  const found = await parentOf(deps, alone.wants);
  if (found === undefined) return alone;
  const parsed = parseDefinition(source, { ...options, parent: found.definition });
  if (!parsed.ok || !(await leadsBack(deps, found.head, parsed.definition.name)))
    return { ...parsed, parent: found.head };
  const message = `circular inheritance detected: ${parsed.definition.name} extends itself`;
  const { definition, warnings } = parsed;
  return { ok: false, errors: [{ message, path: "extends" }], warnings, definition };
}

async function parentOf(
  deps: Pick<Ports, "tables" | "blobs">,
  name: string,
): Promise<{ head: WorkflowHead; definition: Definition } | undefined> {
  try {
    const head = await findWorkflow(deps, name);
    return { head, definition: (await loadRevision(deps, head.name, head.revision)).definition };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Whether a workflow, or one of its ancestors, is this one. */
async function leadsBack(deps: Pick<Ports, "tables">, from: WorkflowHead, name: string): Promise<boolean> {
  let head = from;
  for (let generation = 0; generation < GENERATIONS_MAX; generation += 1) {
    if (head.name === name) return true;
    if (head.extends === undefined) return false;
    const next = await findNamed(deps, head.extends);
    if (next === undefined) return false;
    head = next;
  }
  return true;
}

/** Stores a parsed workflow, then stores every workflow that extends it again. */
export async function saveWithDescendants(
  deps: DefinitionDeps,
  parsed: Extract<ParsedWorkflow, { ok: true }>,
  request: Omit<SaveRequest, "definition" | "inherited">,
  generation = 0,
): Promise<SaveResult> {
  const { definition, parent } = parsed;
  const inherited = parent === undefined ? {} : { inherited: parent.checksum };
  const saved = await saveWorkflow(deps, { ...request, definition, ...inherited });
  if (!saved.changed || generation >= GENERATIONS_MAX) return saved;
  for (const heir of await allWorkflows(deps)) {
    if (heir.extends === saved.head.name) await saveHeir(deps, heir, generation + 1);
  }
  return saved;
}

/** If an heir is invalid with its changed parent, logs an error and keeps the stored heir. */
async function saveHeir(deps: DefinitionDeps, heir: WorkflowHead, generation: number): Promise<void> {
  const { yaml } = await loadRevision(deps, heir.name, heir.revision);
  const source = yaml.trimStart().startsWith("{") ? jsonOf(yaml) : yaml;
  const parsed = await parseStored(deps, source, { name: heir.name });
  if (!parsed.ok) {
    const errors = parsed.errors.map(describeProblem);
    deps.log.error("updating a workflow that extends another failed", { workflow: heir.name, errors });
    return;
  }
  const file = heir.source === "file" ? { filePath: heir.file_path } : {};
  await saveWithDescendants(deps, parsed, { yaml, source: heir.source, ...file }, generation);
}

/** A flow map in YAML begins like JSON. */
function jsonOf(text: string): WorkflowSource {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return text;
  }
}
