import type { TimelineStep } from "./timeline-data.ts";

/** States of items by their letter. */
export const ITEM_STATES = {
  c: "completed",
  f: "failed",
  s: "skipped",
  r: "running",
  p: "pending",
} as const;
export type ItemState = (typeof ITEM_STATES)[keyof typeof ITEM_STATES];

export type Items = NonNullable<TimelineStep["items"]>;

const RUN = /(\d+)([cfsrp])/g;

/** The state of each item, or of each group of items, in their order. */
export const statesOf = ({ states }: Pick<Items, "states">): ItemState[] =>
  [...states.matchAll(RUN)].flatMap(([, count, letter]) =>
    new Array<ItemState>(Number(count)).fill(ITEM_STATES[letter as keyof typeof ITEM_STATES]),
  );

/** The strip's colors from one end to the other, as a gradient; a failure is never too narrow to be seen. */
export function gradientOf(items: Pick<Items, "states">, parts: number): string {
  const states = statesOf(items);
  if (states.length === 0) return "none";
  const count = Math.min(parts, states.length);
  const stops = Array.from({ length: count }, (_, index) => {
    const group = states.slice(
      Math.floor((index * states.length) / count),
      Math.floor(((index + 1) * states.length) / count),
    );
    const state = ORDER.find((one) => group.includes(one)) ?? "pending";
    return `var(--item-${state}) ${(index * 100) / count}% ${((index + 1) * 100) / count}%`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** What is shown of several items. */
const ORDER: readonly ItemState[] = ["failed", "running", "pending", "skipped", "completed"];
