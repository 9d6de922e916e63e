import type * as z from "zod";
import { inherit } from "./inherit.ts";
import { readJson, type Source } from "./json-source.ts";
import { normalize } from "./normalize.ts";
import { cutList, formatPath, type Path, type Problem } from "./problems.ts";
import { type ReadWorkflow, workflow } from "./schema.ts";
import { messageOf, workflowName } from "./schema-values.ts";
import type { Definition } from "./types.ts";
import { warnOfKey } from "./unknown-keys.ts";
import { readYaml } from "./yaml-source.ts";

export type ParseOutcome =
  | { readonly ok: true; readonly definition: Definition; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      readonly errors: readonly Problem[];
      /** The workflow that it extends, where that was not given. */
      readonly wants?: string;
    };

export interface ParseOptions {
  /** The workflow that is extended, as it is stored. */
  readonly parent?: Definition;
  /** Name of a workflow that does not name itself: its file's. */
  readonly fallbackName?: string;
  /** Keys that nothing reads are errors. */
  readonly strict?: boolean;
}

/**
 * Reads a workflow from YAML text, or from a value that came as JSON, and brings it to its one form. Never
 * throws; hostile input is refused in bounded time. What is odd but harmless becomes a warning. Seed: workflow 2.5 to 2.7.
 */
export function parseDefinition(
  source: string | { json: unknown },
  options: ParseOptions = {},
): ParseOutcome {
  const read = typeof source === "string" ? readYaml(source) : readJson(source.json);
  const outcome = read.ok ? parseSource(read.source, options) : read;
  if (!outcome.ok) {
    return {
      ...outcome,
      errors: cutList(outcome.errors, (count) => ({ message: `and ${count} more problems` })),
    };
  }
  return { ...outcome, warnings: cutList(outcome.warnings, (count) => `and ${count} more warnings`) };
}

function parseSource(source: Source, options: ParseOptions): ParseOutcome {
  const errors: Problem[] = [];
  const warnings: string[] = [];
  const refuse = (path: Path, message: string): void => {
    errors.push({ message, ...(path.length > 0 && { path: formatPath(path) }), ...source.locate(path) });
  };
  const warn = (path: Path, message: string): void => {
    const line = source.locate(path)?.line;
    warnings.push(`${formatPath(path)}: ${message}${line === undefined ? "" : ` (line ${line})`}`);
  };

  const read = readWorkflow(source, refuse, options.strict === true ? refuse : warn);
  if (read === undefined) return { ok: false, errors };
  const name = workflowName.safeParse(read.name ?? options.fallbackName);
  for (const issue of name.error?.issues ?? []) refuse(["name"], messageOf(issue));
  const { parent } = options;
  if (read.extends !== undefined && parent === undefined) {
    refuse(["extends"], `there is no workflow "${read.extends}"`);
    return { ok: false, errors, wants: read.extends };
  }
  const whole = parent === undefined ? read : inherit(read, parent, { refuse, warn });
  const definition = normalize(whole, name.data ?? "", { refuse, warn });
  if (read.extends === undefined && read.override !== undefined)
    warn(["override"], "changes nothing in a workflow that extends no other, ignored");
  const own = read.extends === undefined ? definition : { ...definition, extends: read.extends };
  return errors.length > 0 ? { ok: false, errors } : { ok: true, definition: own, warnings };
}

/** Keys that the schema does not name are taken out with a warning; what is then still wrong is an error. */
function readWorkflow(
  source: Source,
  refuse: (path: Path, message: string) => void,
  warn: (path: Path, message: string) => void,
): ReadWorkflow | undefined {
  const first = workflow.safeParse(source.value);
  if (first.success) return first.data;
  let last: z.ZodSafeParseResult<ReadWorkflow> = first;
  if (dropUnknownKeys(source.value, first.error.issues, warn)) last = workflow.safeParse(source.value);
  if (last.success) return last.data;
  for (const issue of last.error.issues) {
    const path = toPath(issue.path);
    const hint = source.hint(path);
    refuse(path, hint === undefined ? messageOf(issue) : `${messageOf(issue)} (${hint})`);
  }
  return undefined;
}

function dropUnknownKeys(
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
  warn: (path: Path, message: string) => void,
): boolean {
  let dropped = false;
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const path = toPath(issue.path);
    const holder = path.reduce<unknown>((around, part) => Object(around)[part], value);
    for (const key of issue.keys) {
      const warning = warnOfKey(path, key);
      if (warning !== undefined) warn([...path, key], warning);
      dropped = Reflect.deleteProperty(Object(holder), key) || dropped;
    }
  }
  return dropped;
}

function toPath(path: readonly PropertyKey[]): Path {
  return path.map((part) => (typeof part === "number" ? part : String(part)));
}
