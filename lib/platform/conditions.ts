import type { StoredItem } from "./item-size.ts";
import { compareUtf8 } from "./key-order.ts";
import type { Change, Condition } from "./tables.ts";

function order(left: unknown, right: unknown): number | undefined {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return compareUtf8(left, right);
  return undefined;
}

function holds(item: StoredItem | undefined, condition: Condition): boolean {
  const [attribute, test] = condition;
  const value = item !== undefined && Object.hasOwn(item, attribute) ? item[attribute] : undefined;
  if (test === "exists") return value !== undefined;
  if (test === "missing") return value === undefined;
  const wanted = condition[2];
  if (test === "=") return value === wanted;
  // As in DynamoDB: a missing attribute differs from every value.
  if (test === "<>") return value !== wanted;
  const difference = order(value, wanted);
  if (difference === undefined) return false;
  if (test === "<") return difference < 0;
  if (test === "<=") return difference <= 0;
  if (test === ">") return difference > 0;
  return difference >= 0;
}

/** Whether all conditions hold; values of different types are unequal and have no order. */
export function conditionsHold(
  item: StoredItem | undefined,
  conditions: readonly Condition[] | undefined,
): boolean {
  return conditions === undefined || conditions.every((condition) => holds(item, condition));
}

/** Throws TypeError if a change names a key, or one attribute twice. */
export function checkChange(change: Change): void {
  const seen = new Set(["pk", "sk"]);
  const names = [
    ...Object.keys(change.set ?? {}),
    ...Object.keys(change.setIfMissing ?? {}),
    ...Object.keys(change.add ?? {}),
    ...(change.remove ?? []),
  ];
  for (const name of names) {
    if (seen.has(name))
      throw new TypeError(`a change must not contain a key, or an attribute twice: "${name}"`);
    seen.add(name);
  }
}

/** The item after the change. Throws TypeError if the change adds to a value that is not a number. */
export function applyChange(item: StoredItem, change: Change): StoredItem {
  // Spread defines properties; assignment would call the setter of `__proto__`.
  let next: StoredItem = { ...change.setIfMissing, ...item, ...change.set };
  for (const [name, amount] of Object.entries(change.add ?? {})) {
    const before = Object.hasOwn(item, name) ? item[name] : 0;
    if (typeof before !== "number") throw new TypeError(`cannot add to "${name}", which is not a number`);
    next = { ...next, [name]: before + amount };
  }
  if (change.remove === undefined) return next;
  const dropped = new Set(change.remove);
  return Object.fromEntries(Object.entries(next).filter(([name]) => !dropped.has(name)));
}
