import type { DocumentNode } from "./ancestors.ts";
import { allocateOrder, type SiblingDeps, type SiblingPosition } from "./siblings.ts";
import type { TreePosition } from "./tree-writes.ts";

/** Positions relative to a target document. Reference 3.3. */
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

/** Returns the parent with its ancestors; undefined for a root. */
export function getParentNode({ ancestors }: DocumentNode): DocumentNode | undefined {
  const document = ancestors.at(-1);
  return document === undefined ? undefined : { document, ancestors: ancestors.slice(0, -1) };
}

/** Whether the document has this id or is a descendant of it. */
export const isSameOrDescendant = ({ document, ancestors }: DocumentNode, id: string): boolean =>
  document.id === id || ancestors.some((ancestor) => ancestor.id === id);

const ENDS: Readonly<Partial<Record<Position, SiblingPosition>>> = {
  "first-child": "first",
  "last-child": "last",
  "first-sibling": "first",
  "last-sibling": "last",
};

/** Resolves a position relative to a target document. */
export async function resolveTarget(
  deps: SiblingDeps,
  target: DocumentNode,
  position: Position,
): Promise<TreePosition> {
  const parent = isChildPosition(position) ? target : getParentNode(target);
  const side = position === "left" ? "left" : "right";
  const beside = ENDS[position] ?? { of: target.document, side };
  return { parent, ...(await allocateOrder(deps, parent?.document.id ?? null, beside)) };
}
