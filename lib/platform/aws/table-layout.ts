import { checkLimit } from "../high-water-marks.ts";
import { checkKeyPart } from "../key-order.ts";
import { limitFault } from "../limits.ts";
import type { TableResource } from "../resources.ts";
import type { IndexSpec } from "../tables.ts";

/** The physical name of a table of the template and the keys of its indexes. */
export interface TableLayout {
  readonly name: string;
  /** Name in the account. */
  readonly physical: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
  readonly indexKeys: readonly { readonly attribute: string; readonly limit: KeyLimit }[];
}

type KeyLimit = "partitionKeyBytes" | "sortKeyBytes";

/** The name of a stack's resource, as the template builds it. */
export function withStackName(stack: string, name: string): string {
  return `${stack}-${name}`;
}

export function layoutOf(stack: string, { name, indexes }: TableResource): TableLayout {
  const limits = new Map<string, KeyLimit>();
  for (const { pk, sk } of Object.values(indexes)) {
    if (!limits.has(pk)) limits.set(pk, "partitionKeyBytes");
    limits.set(sk, "sortKeyBytes");
  }
  limits.delete("pk");
  limits.delete("sk");
  const indexKeys = [...limits].map(([attribute, limit]) => ({ attribute, limit }));
  return { name, physical: withStackName(stack, name), indexes, indexKeys };
}

/** Throws `limit_exceeded` for invalid index keys: an empty or too long text, or another type. */
export function checkIndexKeys(layout: TableLayout, attributes: Readonly<Record<string, unknown>>): void {
  for (const { attribute, limit } of layout.indexKeys) {
    const value = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined;
    if (value === undefined) continue;
    if (typeof value !== "string")
      throw limitFault(limit, `the index key "${attribute}" of ${layout.name}, which must be a string,`);
    checkKeyPart(attribute, value, limit);
  }
}

/** Throws `limit_exceeded` if the put items exceed the size limit of a transaction. */
export function checkTransactionBytes(bytes: number): void {
  checkLimit("transactionBytes", "the transaction", bytes);
}
