import { isGiven, type NeededName } from "../expressions/parse.ts";
import { loopNames } from "../expressions/variable-names.ts";
import type { Definition, Step } from "../schema/types.ts";
import { BUILTIN_NAMES } from "../values/built-in-values.ts";
import { exportedBy, namesLeftBy, neededIn } from "../values/needed-names.ts";
import { targetValues } from "../values/target-values.ts";

const CHILD_FIELDS: ReadonlySet<string> = new Set(["step", "parallel_steps", "name", "type"]);

/** Names available to every step, besides the values of its run. */
const ALWAYS: readonly string[] = ["secrets", "attempt", "error", "output", "event", "event_data"];

/** Names available only to some runs: those with a URL target, and those started by an event. */
const AT_TIMES: readonly string[] = [
  ...Object.keys(targetValues("http://a.example/")),
  "EventEnvelope",
  "EventTopic",
  "EventSource",
  "EventDataType",
  "EventTimestamp",
  "EventData",
];

/**
 * Names in templates that nothing in the workflow defines, one line each. A run may be given any parameter, and a flow
 * passes its own to its modules; these are unknown here.
 */
export function undefinedNames(definition: Definition): string[] {
  const findings: string[] = [];
  const lists = [allSteps(definition), ...definition.modules.map((module) => module.steps ?? [])];
  const known = new Set([
    ...BUILTIN_NAMES,
    ...ALWAYS,
    ...AT_TIMES,
    ...given(definition),
    ...lists.flat().flatMap(namesLeftBy),
  ]);
  const visit = (step: Step, loops: readonly string[]): void => {
    const around = new Set(loopNames(loops));
    for (const { field, needed } of namesIn(step, loops)) {
      if (!isGiven(needed, (name) => known.has(name) || around.has(name)))
        findings.push(`${step.name}.${field}: {{${needed.name}}} is undefined`);
    }
    if (step.type === "foreach") visit(step.step, [...loops, step.variable]);
    if (step.type === "parallel-steps") for (const child of step.parallel_steps) visit(child, loops);
  };
  for (const { name: param, default: text = "" } of definition.params) {
    for (const needed of neededIn(text, []))
      if (!isGiven(needed, (name) => known.has(name)))
        findings.push(`params.${param}.default: {{${needed.name}}} is undefined`);
  }
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

function* namesIn(step: Step, loops: readonly string[]): Generator<{ field: string; needed: NeededName }> {
  const loopVariables = loopNames(loops);
  for (const [field, value] of Object.entries(step)) {
    if (CHILD_FIELDS.has(field)) continue;
    const names = [...textsIn(value)].flatMap((text) => neededIn(text, loopVariables));
    for (const needed of new Map(names.map((each) => [each.name, each])).values()) yield { field, needed };
  }
}

/** All texts in a value. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) yield* textsIn(inner);
}
