import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { suggestion } from "../../suggestion.ts";
import { allWorkflows, findNamed } from "./store.ts";
import type { WorkflowHead } from "./table.ts";

const FILE_EXTENSION = /\.ya?ml$/i;
/** Suffixes of file names, tried after the name itself. Reference 2. */
const NAME_ENDINGS = ["", "-flow", "-module"];
const SHOWN_CHARACTERS = 128;

/**
 * Finds a workflow by its name, or by its file, with or without folder and extension. Throws `not_found` with a
 * similar name.
 */
export async function findWorkflow(deps: Pick<Ports, "tables">, written: string): Promise<WorkflowHead> {
  const head = await findNamed(deps, written);
  if (head !== undefined) return head;
  const heads = await allWorkflows(deps);
  const found = findByName(heads, written);
  if (found === undefined) throw workflowNotFound(heads, written);
  return found;
}

/** As `findWorkflow`, among workflows that are already loaded. */
export function findByName(heads: readonly WorkflowHead[], written: string): WorkflowHead | undefined {
  const path = written
    .trim()
    .replace(FILE_EXTENSION, "")
    .replace(/^\.?\//, "");
  const base = lastPart(path);
  if (base === "") return undefined;
  const named = heads.find(({ name }) => name === written);
  if (named !== undefined) return named;
  const fromFiles = heads
    .filter(({ file_path }) => file_path !== "")
    .map((head) => ({ head, file: head.file_path.replace(FILE_EXTENSION, "") }))
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
  const byPath = fromFiles.find(({ file }) => file === path);
  if (byPath !== undefined) return byPath.head;
  for (const ending of NAME_ENDINGS) {
    const called = `${base}${ending}`;
    const found =
      heads.find(({ name }) => name === called) ??
      fromFiles.find(({ file }) => lastPart(file) === called)?.head;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The error for a workflow that does not exist, with the most similar name. */
export function workflowNotFound(heads: readonly WorkflowHead[], written: string): ApiError {
  const shown = written.slice(0, SHOWN_CHARACTERS);
  const known = heads.flatMap(({ name, file_path }) => [
    name,
    lastPart(file_path.replace(FILE_EXTENSION, "")),
  ]);
  const meant = suggestion(lastPart(shown.replace(FILE_EXTENSION, "")), new Set(known.filter(Boolean)));
  return new ApiError("not_found", `Workflow not found: ${shown}${meant === "" ? "" : `.${meant}`}`);
}

const lastPart = (path: string): string => path.split("/").at(-1) ?? "";
