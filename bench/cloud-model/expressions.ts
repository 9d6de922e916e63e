import type { AttributeValue } from "@aws-sdk/client-dynamodb";

export type Item = Record<string, AttributeValue>;

/** The parts of a request that expressions refer to. */
export interface Names {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** One test of one attribute: the form in which the adapter writes conditions. */
const TEST =
  /^(?:(attribute_exists|attribute_not_exists)\((#\w+)\)|begins_with\((#\w+), (:\w+)\)|(#\w+) BETWEEN (:\w+) AND (:\w+)|(#\w+) (=|<>|<=|>=|<|>) (:\w+))$/;
/** What the adapter writes for a condition that never holds. */
const NEVER = /\(attribute_exists\((#\w+)\) AND attribute_not_exists\(\1\)\)/g;

const nameOf = ({ ExpressionAttributeNames = {} }: Names, placeholder = ""): string =>
  ExpressionAttributeNames[placeholder] ?? placeholder;
const operandOf = ({ ExpressionAttributeValues = {} }: Names, placeholder = ""): AttributeValue => {
  const value = ExpressionAttributeValues[placeholder];
  if (value === undefined) throw new Error(`the request has no value ${placeholder}`);
  return value;
};

/** Splits at AND, except the AND of a BETWEEN. */
function testsOf(expression: string): string[] {
  const parts = expression.split(" AND ");
  const tests: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? "";
    if (!part.includes(" BETWEEN ")) tests.push(part);
    else {
      at += 1;
      tests.push(`${part} AND ${parts[at] ?? ""}`);
    }
  }
  return tests;
}

function compare(left: AttributeValue | undefined, by: Comparison, right: AttributeValue): boolean {
  if (left === undefined) return by === "<>";
  const [one, other] = [scalarOf(left), scalarOf(right)];
  if (typeof one !== typeof other) return by === "<>";
  if (by === "=") return one === other;
  if (by === "<>") return one !== other;
  if (one === null || other === null || typeof one === "boolean") return false;
  if (by === "<") return one < other;
  if (by === "<=") return one <= other;
  return by === ">" ? one > other : one >= other;
}

function scalarOf({ S, N, BOOL, NULL }: AttributeValue): string | number | boolean | null {
  if (S !== undefined) return S;
  if (N !== undefined) return Number(N);
  if (BOOL !== undefined) return BOOL;
  if (NULL !== undefined) return null;
  throw new Error("only scalars are compared");
}

/** Whether an item fulfils a condition of the forms that the adapter writes; throws for any other. */
export function isFulfilled(expression: string | undefined, names: Names, item: Item | undefined): boolean {
  if (expression === undefined) return true;
  const attributeOf = (placeholder: string | undefined) => item?.[nameOf(names, placeholder)];
  if (expression.replace(NEVER, "") !== expression) return false;
  return testsOf(expression).every((test) => {
    const found = TEST.exec(test);
    if (found === null) throw new Error(`the model does not know the condition ${test}`);
    const [, exists, existing, prefixed, prefix, ranged, from, to, compared, by, value] = found;
    if (exists !== undefined)
      return (attributeOf(existing) !== undefined) === (exists === "attribute_exists");
    if (prefixed !== undefined)
      return attributeOf(prefixed)?.S?.startsWith(operandOf(names, prefix).S ?? "") === true;
    if (ranged !== undefined) {
      const attribute = attributeOf(ranged);
      return (
        compare(attribute, ">=", operandOf(names, from)) && compare(attribute, "<=", operandOf(names, to))
      );
    }
    return compare(attributeOf(compared), by as Comparison, operandOf(names, value));
  });
}

const CLAUSES = /^(?:SET (?<sets>.*?))?(?: ?ADD (?<adds>.*?))?(?: ?REMOVE (?<removes>.*?))?$/;
const SET = /(#\w+) = (?:if_not_exists\((#\w+), (:\w+)\)|(:\w+))(?:, |$)/g;

/** The item after an update; throws for a form that the adapter does not write. */
export function updated(expression: string, names: Names, before: Item): Item {
  const clauses = CLAUSES.exec(expression)?.groups;
  if (clauses === undefined) throw new Error(`the model does not know the update ${expression}`);
  const { sets = "", adds = "", removes = "" } = clauses;
  const item = { ...before };
  for (const [, target, source, fallback, value] of sets.matchAll(SET)) {
    const own = source === undefined ? undefined : before[nameOf(names, source)];
    item[nameOf(names, target)] = own ?? operandOf(names, value ?? fallback);
  }
  for (const add of adds === "" ? [] : adds.split(", ")) {
    const [target, value] = add.split(" ");
    const name = nameOf(names, target);
    item[name] = { N: String(Number(before[name]?.N ?? 0) + Number(operandOf(names, value).N)) };
  }
  for (const target of removes === "" ? [] : removes.split(", ")) delete item[nameOf(names, target)];
  return item;
}

/** The value of the partition key that a query asks for, and its test of the sort key. */
export function keyConditionOf(expression: string, names: Names): { partition: string; sort?: string } {
  const [partition = "", ...sort] = testsOf(expression);
  const value = operandOf(names, /= (:\w+)$/.exec(partition)?.[1]).S ?? "";
  return sort.length === 0 ? { partition: value } : { partition: value, sort: sort.join(" AND ") };
}

/** Size of an item as DynamoDB counts it. */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) bytes += Buffer.byteLength(name) + valueBytes(value);
  return bytes;
}

function valueBytes({ S, N, B, L, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.min(21, Math.ceil(N.length / 2) + 1);
  if (B !== undefined) return B.byteLength;
  if (L !== undefined) return 3 + L.reduce((sum, value) => sum + 1 + valueBytes(value), 0);
  if (M !== undefined)
    return (
      3 +
      Object.entries(M).reduce(
        (sum, [name, value]) => sum + 1 + Buffer.byteLength(name) + valueBytes(value),
        0,
      )
    );
  return 1;
}
