import type { Action, Definition, Step } from "../definition/types.ts";
import { everyStep } from "../engine/program.ts";
import { BUILTIN_NAMES } from "../runs/builtins.ts";
import { targetFacts } from "../runs/target-facts.ts";
import { variableName } from "../runs/values.ts";
import { loopNames } from "../steps/names.ts";
import { parseTemplate, referencedNames } from "../templates/parse.ts";

const CHILD_FIELDS: ReadonlySet<string> = new Set(["step", "parallel_steps", "name", "type"]);
/** What steps find besides the values of their run. */
const ALWAYS: readonly string[] = ["secrets", "attempt", "error", "output", "event", "event_data"];
/** What some runs have: of a target that is a URL, and of an event. */
const AT_TIMES: readonly string[] = [
  ...Object.keys(targetFacts("http://a.example/")),
  ...["EventEnvelope", "EventTopic", "EventSource", "EventDataType", "EventTimestamp", "EventData"],
];
/** What types of steps leave besides their output. */
const LEFT_BY_TYPE: Readonly<Partial<Record<Step["type"], readonly string[]>>> = {
  http: ["status_code", "body", "headers", "http_resp"],
  llm: ["llm_resp", "content"],
};

/**
 * Names in templates that nothing in the workflow gives a value, one line each. A run may be given any parameter, and
 * a flow gives its modules what it has: these are not known here.
 */
export function undefinedNames(definition: Definition): string[] {
  const findings: string[] = [];
  const lists = [allSteps(definition), ...definition.modules.map((module) => module.steps ?? [])];
  const known = new Set([
    ...BUILTIN_NAMES,
    ...ALWAYS,
    ...AT_TIMES,
    ...given(definition),
    ...lists.flat().flatMap(leftBy),
  ]);
  const visit = (step: Step, loops: readonly string[]): void => {
    const around = new Set(loopNames(loops));
    for (const { field, name } of namesIn(step, loops)) {
      if (!known.has(name) && !around.has(name) && !name.startsWith("secrets."))
        findings.push(`${step.name}.${field}: nothing gives {{${name}}} a value`);
    }
    if (step.type === "foreach") visit(step.step, [...loops, step.variable]);
    if (step.type === "parallel-steps") for (const child of step.parallel_steps) visit(child, loops);
  };
  for (const step of lists.flat()) visit(step, []);
  return findings;
}

const allSteps = ({ steps, hooks }: Definition): readonly Step[] => [
  ...(hooks?.pre_scan_steps ?? []),
  ...steps,
  ...(hooks?.post_scan_steps ?? []),
];

function given({ params, triggers, modules }: Definition): string[] {
  return [
    ...params.map(({ name }) => name),
    ...triggers.flatMap(({ input }) => Object.keys(input)),
    ...modules.flatMap((module) => Object.keys(module.params)),
    ...modules.flatMap(({ on_success = [], on_error = [] }) => exportedBy([...on_success, ...on_error])),
  ];
}

const exportedBy = (actions: readonly Action[]): string[] =>
  actions.flatMap(({ action, name }) => (action === "export" && name !== undefined ? [name] : []));

function leftBy(top: Step): string[] {
  return everyStep([top]).flatMap((step) => {
    const prefix = variableName(step.name);
    return [
      ...["output", ...(LEFT_BY_TYPE[step.type] ?? [])].map((what) => `${prefix}_${what}`),
      ...Object.keys(step.exports),
      ...exportedBy([...step.on_success, ...step.on_error]),
    ];
  });
}

function* namesIn(step: Step, loops: readonly string[]): Generator<{ field: string; name: string }> {
  const loopVariables = loopNames(loops);
  for (const [field, value] of Object.entries(step)) {
    if (CHILD_FIELDS.has(field)) continue;
    const names = new Set([...textsIn(value)].flatMap((text) => referenced(text, loopVariables)));
    for (const name of names) yield { field, name };
  }
}

/** A template that does not parse is told of elsewhere. */
function referenced(text: string, loopVariables: readonly string[]): string[] {
  try {
    return referencedNames(parseTemplate(text, { loopVariables }));
  } catch {
    return [];
  }
}

/** All texts inside a value. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) yield* textsIn(inner);
}
