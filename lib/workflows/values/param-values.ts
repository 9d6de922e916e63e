import { isGiven, neededNames, parseTemplate } from "../expressions/parse.ts";
import { renderText } from "../expressions/render-text.ts";
import type { Param } from "../schema/types.ts";
import { GeneratorUnavailableError, generate } from "./param-generators.ts";

/** Given parameters, by name. */
export interface Given {
  readonly params: Readonly<Record<string, string>>;
  /** Target of the run: the value of a parameter with that name. */
  readonly target: string;
  /** Names of given parameters whose value is text of a workflow file. */
  readonly trusted?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** With `fail`, a default may not name an undefined value. */
  readonly undefinedNames?: "empty" | "fail" | undefined;
}

export interface ParamValues {
  /** All values for templates: the earlier ones, overridden by parameters. */
  readonly values: Record<string, unknown>;
  readonly params: Record<string, string>;
  /** Parameters whose value is text of a workflow file, without input from outside. */
  readonly trusted: readonly string[];
  /** Why the run cannot start. */
  readonly problem?: string;
}

/**
 * Computes parameter values by reference 2.2: the given value, else the result of the generator, else the default
 * (which may name earlier parameters), else an error if the parameter is required.
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

/** Returns the value from a parameter's declaration: the result of its generator, else its default. */
function ownValue(
  param: Param,
  values: Readonly<Record<string, unknown>>,
  { now, undefinedNames }: Given,
  problems: string[],
): string | undefined {
  try {
    if (param.generator !== undefined) return generate(param.generator, { now, values });
  } catch (error) {
    const isUnavailable = error instanceof GeneratorUnavailableError;
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
  if (gap !== undefined) throw new Error(`{{${gap.name}}} is undefined`);
  return renderText(template, values);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
