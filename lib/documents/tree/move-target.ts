import type { Placed } from "./ancestors.ts";
import { type Beside, orderAt, type SiblingDeps } from "./siblings.ts";
import type { Target } from "./tree-writes.ts";

/** Where a document may be moved to, as seen from the target. Reference 3.3. */
export const POSITIONS = [
  "first-child",
  "last-child",
  "first-sibling",
  "last-sibling",
  "left",
  "right",
] as const;
export type Position = (typeof POSITIONS)[number];

export const isChildPosition = (position: Position): boolean =>
  position === "first-child" || position === "last-child";

/** The parent of a document with its own ancestors; undefined for a root. */
export function parentOf({ ancestors }: Placed): Placed | undefined {
  const document = ancestors.at(-1);
  return document === undefined ? undefined : { document, ancestors: ancestors.slice(0, -1) };
}

/** Whether a document is another, or lies in it. */
export const isWithin = ({ document, ancestors }: Placed, id: string): boolean =>
  document.id === id || ancestors.some((ancestor) => ancestor.id === id);

const ENDS: Readonly<Partial<Record<Position, Beside>>> = {
  "first-child": "first",
  "last-child": "last",
  "first-sibling": "first",
  "last-sibling": "last",
};

/** The place that a position beside or below a document means. */
export async function targetOf(deps: SiblingDeps, target: Placed, position: Position): Promise<Target> {
  const parent = isChildPosition(position) ? target : parentOf(target);
  const side = position === "left" ? "left" : "right";
  const beside = ENDS[position] ?? { of: target.document, side };
  return { parent, ...(await orderAt(deps, parent?.document.id ?? null, beside)) };
}
