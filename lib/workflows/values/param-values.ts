import { isGiven, neededNames, parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { Param } from "../schema/types.ts";
import { GeneratorUnavailable, generate } from "./param-generators.ts";

/** What was given for parameters, by their names. */
export interface Given {
  readonly params: Readonly<Record<string, string>>;
  /** Of the run: stands for a parameter of that name. */
  readonly target: string;
  /** Those that are text of a workflow file. */
  readonly trusted?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** With `fail`, a default cannot name what has no value. */
  readonly undefinedNames?: "empty" | "fail" | undefined;
}

export interface ParamValues {
  /** All that templates may name: what was there before, and parameters over it. */
  readonly values: Record<string, unknown>;
  readonly params: Record<string, string>;
  /** Parameters whose value is text of a workflow file, with nothing from outside in it. */
  readonly trusted: readonly string[];
  /** Why the run cannot start. */
  readonly problem?: string;
}

/**
 * Reference 2.2: what was given, else what its generator makes, else the default (which may name earlier ones), else
 * missing when required.
 */
export function paramValues(
  params: readonly Param[],
  base: Readonly<Record<string, unknown>>,
  given: Given,
): ParamValues {
  const values: Record<string, unknown> = { ...base, ...given.params };
  const known: Record<string, string> = { ...given.params };
  const trusted = [...(given.trusted ?? [])];
  const problems: string[] = [];
  for (const param of params) {
    const sent = sentValue(param, given);
    const text = sent === "" ? ownValue(param, values, given, problems) : sent;
    if (text === undefined || text === "") {
      if (param.required) problems.push(`required parameter missing: ${param.name}`);
      if (text === undefined) continue;
    }
    known[param.name] = text;
    if (sent === "" && param.generator === undefined && param.default?.includes("{{") === false)
      trusted.push(param.name);
    values[param.name] = param.type === "bool" ? text.toLowerCase() === "true" || text === "1" : text;
  }
  const [problem] = problems;
  return { values, params: known, trusted, ...(problem === undefined ? {} : { problem }) };
}

function sentValue({ name }: Param, { params, target }: Given): string {
  const sent = Object.hasOwn(params, name) ? (params[name] ?? "") : "";
  return sent === "" && name.toLowerCase() === "target" ? target : sent;
}

/** What its declaration gives a parameter: what its generator makes, else its default. */
function ownValue(
  param: Param,
  values: Readonly<Record<string, unknown>>,
  { now, undefinedNames }: Given,
  problems: string[],
): string | undefined {
  try {
    if (param.generator !== undefined) return generate(param.generator, { now, values });
  } catch (error) {
    const isUnavailable = error instanceof GeneratorUnavailable;
    if (!isUnavailable || param.default === undefined) {
      if (isUnavailable && error.fallback !== undefined) return error.fallback;
      problems.push(`generator of parameter ${param.name}: ${messageOf(error)}`);
      return undefined;
    }
  }
  if (param.default === undefined) return undefined;
  try {
    return defaultValue(param.default, values, undefinedNames === "fail");
  } catch (error) {
    problems.push(`default of parameter ${param.name}: ${messageOf(error)}`);
    return undefined;
  }
}

function defaultValue(
  text: string,
  values: Readonly<Record<string, unknown>>,
  failsOnUndefined: boolean,
): string {
  const template = parseTemplate(text);
  const gap = neededNames(failsOnUndefined ? template : "").find(
    (needed) => !needed.optional && !isGiven(needed, (name) => Object.hasOwn(values, name)),
  );
  if (gap !== undefined) throw new Error(`nothing gives {{${gap.name}}} a value`);
  return renderText(template, values);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
