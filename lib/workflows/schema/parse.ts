import { checkExecution } from "./check-execution.ts";
import { inherit } from "./inherit.ts";
import { readJson, type Source } from "./json-source.ts";
import { normalize } from "./normalize.ts";
import { replaceWithPlaceholder } from "./placeholders.ts";
import { cutList, formatPath, type Path, type Problem } from "./problems.ts";
import { type ReadWorkflow, workflow } from "./schema.ts";
import { messageOf, workflowName } from "./schema-values.ts";
import { ToleratedIssues, toPath } from "./tolerated-issues.ts";
import type { Definition } from "./types.ts";
import { readYaml } from "./yaml-source.ts";

export type ParseOutcome =
  | { readonly ok: true; readonly definition: Definition; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      readonly errors: readonly Problem[];
      readonly warnings: readonly string[];
      /** The definition as far as it can be read, for further checks; placeholders replace invalid parts. */
      readonly definition?: Definition;
      /** Name of the extended workflow, if it was not given. */
      readonly wants?: string;
    };

export interface ParseOptions {
  /** The extended workflow, as stored. */
  readonly parent?: Definition;
  /** Name of a workflow without a `name`: that of its file. */
  readonly fallbackName?: string;
  /** Overrides the workflow's own name, if another file has that name: that of its file. */
  readonly name?: string;
  /** Whether unknown keys are errors. */
  readonly strict?: boolean;
}

/**
 * Parses a workflow from YAML text or from a JSON value and normalizes it. Never throws; rejects hostile input in
 * bounded time. Odd but harmless input produces warnings. Seed: workflow 2.5 to 2.7.
 */
export function parseDefinition(
  source: string | { json: unknown },
  options: ParseOptions = {},
): ParseOutcome {
  const read = typeof source === "string" ? readYaml(source) : readJson(source.json);
  const outcome = read.ok ? parseSource(read.source, options) : { ...read, warnings: [] };
  const warnings = cutList(outcome.warnings, (count) => `and ${count} more warnings`);
  if (outcome.ok) return { ...outcome, warnings };
  const errors = cutList(outcome.errors, (count) => ({ message: `and ${count} more problems` }));
  return { ...outcome, errors, warnings };
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

  const { read, removed } = readWorkflow(source, refuse, options.strict === true ? refuse : warn, warn);
  if (read === undefined) return { ok: false, errors, warnings };
  const findings = {
    warn,
    refuse: (path: Path, message: string): void => {
      if (!removed.has(String(path[0]))) refuse(path, message);
    },
  };
  const name = workflowName.safeParse(options.name ?? read.name ?? options.fallbackName);
  for (const issue of name.error?.issues ?? []) findings.refuse(["name"], messageOf(issue));
  const { parent } = options;
  if (read.extends !== undefined && parent === undefined) {
    refuse(["extends"], `unknown workflow "${read.extends}"`);
    return { ok: false, errors, warnings, wants: read.extends };
  }
  const whole = parent === undefined ? read : inherit(read, parent, findings);
  const definition = normalize(whole, name.data ?? "", findings);
  checkExecution(definition, findings);
  if (read.extends === undefined && read.override !== undefined)
    warn(["override"], "has no effect without extends, ignored");
  const own = parent === undefined ? definition : { ...definition, extends: parent.name };
  return errors.length > 0
    ? { ok: false, errors, warnings, definition: own }
    : { ok: true, definition: own, warnings };
}

interface ReadOutcome {
  readonly read?: ReadWorkflow;
  /** Top-level keys that are not in `read` because they are invalid. */
  readonly removed: ReadonlySet<string>;
}

/** Maximum number of validations after invalid parts were removed or replaced. */
const ROUNDS_MAX = 4;

/**
 * Removes what the reference ignores, with a warning; remaining problems are errors. The rest is read with
 * placeholders for invalid parts.
 */
function readWorkflow(
  source: Source,
  refuse: (path: Path, message: string) => void,
  warnOfKey: (path: Path, message: string) => void,
  warn: (path: Path, message: string) => void,
): ReadOutcome {
  const { value } = source;
  const tolerated = new ToleratedIssues(value, warnOfKey, warn);
  let last = workflow.safeParse(value);
  for (let round = 0; round < ROUNDS_MAX && !last.success && tolerated.apply(last.error.issues); round += 1)
    last = workflow.safeParse(value);
  const removed = new Set<string>();
  for (const issue of last.error?.issues ?? []) {
    const path = toPath(issue.path);
    const message = tolerated.messageAt(path, messageOf(issue));
    const more = source.hint(path);
    refuse(path, more === undefined ? message : `${message} (${more})`);
  }
  tolerated.warnOfEmptyKeys();
  for (let round = 0; round < ROUNDS_MAX && !last.success; round += 1) {
    for (const issue of last.error.issues) {
      const key = replaceWithPlaceholder(value, toPath(issue.path));
      if (key !== undefined) removed.add(key);
    }
    last = workflow.safeParse(value);
  }
  return last.success ? { read: last.data, removed } : { removed };
}
