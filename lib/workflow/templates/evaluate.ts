import type { Expression, Operand } from "./expression.ts";
import { FILTERS, isMissing } from "./filters.ts";
import { readPath, readRoot, type Values } from "./values.ts";

/** A value and whether all of it is text of the workflow file, or of a name that the caller vouches for. */
export interface Evaluated {
  readonly value: unknown;
  readonly trusted: boolean;
}

export type Trust = (root: string) => boolean;

const trustNothing: Trust = () => false;

/** The value of an expression; undefined where its name leads nowhere. Rendered data is not looked into. */
export function evaluate(expression: Expression, values: Values, trust: Trust = trustNothing): Evaluated {
  let current = readOperand(expression.operand, values, trust);
  for (const { name, args } of expression.filters) {
    const given = args.map((arg) => readOperand(arg, values, trust));
    const [fallback] = given;
    if (name === "default" && fallback !== undefined) {
      current = isMissing(current.value) ? fallback : current;
      continue;
    }
    const value = FILTERS[name].apply(
      current.value,
      given.map((arg) => arg.value),
    );
    current = { value, trusted: current.trusted && given.every((arg) => arg.trusted) };
  }
  return current;
}

function readOperand(operand: Operand, values: Values, trust: Trust): Evaluated {
  if (operand.kind === "literal") return { value: operand.value, trusted: true };
  const { name, value } = readRoot(values, operand.root);
  return { value: readPath(value, operand.path), trusted: trust(name) };
}

/** Whether a filter stands last in the chain, where it decides how the value is put in. */
export function endsWith(expression: Expression, name: "split" | "shell" | "urlencode"): boolean {
  return expression.filters.at(-1)?.name === name;
}

export function isRaw(expression: Expression): boolean {
  return expression.filters.some((filter) => filter.name === "raw");
}
