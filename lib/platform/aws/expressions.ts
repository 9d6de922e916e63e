import type { Change, Condition } from "../tables.ts";
import { type Attributes, toAttribute } from "./attributes.ts";

/** Placeholders for names and values in expressions, so that no name is a reserved word and no value is syntax. */
export interface Placeholders {
  name(attribute: string): string;
  value(value: unknown): string;
  /** The names and values of the request; DynamoDB rejects empty maps. */
  fields(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Attributes;
  };
}

export function createPlaceholders(): Placeholders {
  const names = new Map<string, string>();
  const values: Attributes = {};
  let count = 0;
  return {
    name: (attribute) => {
      const known = names.get(attribute) ?? `#${names.size}`;
      names.set(attribute, known);
      return known;
    },
    value: (value) => {
      const placeholder = `:${count}`;
      count += 1;
      values[placeholder] = toAttribute(value);
      return placeholder;
    },
    fields: () => ({
      ...(names.size === 0
        ? {}
        : {
            ExpressionAttributeNames: Object.fromEntries(
              [...names].map(([attribute, placeholder]) => [placeholder, attribute]),
            ),
          }),
      ...(count === 0 ? {} : { ExpressionAttributeValues: values }),
    }),
  };
}

function toTest(placeholders: Placeholders, condition: Condition): string {
  const [attribute, test, value] = condition;
  const name = placeholders.name(attribute);
  if (test === "exists") return `attribute_exists(${name})`;
  if (test === "missing") return `attribute_not_exists(${name})`;
  // Booleans and null have no order; DynamoDB would reject the request.
  const ordered = typeof value === "string" || typeof value === "number";
  if (test !== "=" && test !== "<>" && !ordered)
    return `(attribute_exists(${name}) AND attribute_not_exists(${name}))`;
  return `${name} ${test} ${placeholders.value(value)}`;
}

/** Undefined if there are no conditions. */
export function conditionExpression(
  placeholders: Placeholders,
  when: readonly Condition[] | undefined,
): string | undefined {
  if (when === undefined || when.length === 0) return undefined;
  return when.map((condition) => toTest(placeholders, condition)).join(" AND ");
}

/** Undefined if nothing changes; such an update still creates the item. */
export function updateExpression(placeholders: Placeholders, change: Change): string | undefined {
  const { name, value } = placeholders;
  const sets: string[] = [];
  const removes = (change.remove ?? []).map(name);
  for (const [attribute, wanted] of Object.entries(change.set ?? {})) {
    if (wanted === undefined) removes.push(name(attribute));
    else sets.push(`${name(attribute)} = ${value(wanted)}`);
  }
  for (const [attribute, wanted] of Object.entries(change.setIfMissing ?? {})) {
    const path = name(attribute);
    if (wanted !== undefined) sets.push(`${path} = if_not_exists(${path}, ${value(wanted)})`);
  }
  const adds = Object.entries(change.add ?? {}).map(
    ([attribute, amount]) => `${name(attribute)} ${value(amount)}`,
  );
  const clauses = [
    ...(sets.length === 0 ? [] : [`SET ${sets.join(", ")}`]),
    ...(adds.length === 0 ? [] : [`ADD ${adds.join(", ")}`]),
    ...(removes.length === 0 ? [] : [`REMOVE ${removes.join(", ")}`]),
  ];
  return clauses.length === 0 ? undefined : clauses.join(" ");
}
