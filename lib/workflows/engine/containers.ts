import type { Step } from "../schema/types.ts";
import type { Frame } from "./history.ts";
import { isContainer, stepAt, type Walk } from "./walk.ts";

/** Modules of a flow, and steps of one module, that are under way at the same time. */
export const MODULES_AT_ONCE = 8;
export const STEPS_AT_ONCE = 8;

/** Items of a foreach that one executor takes in one go. */
export const ITEMS_PER_BATCH = 1_000;

/** Steps of a run that are under way at the same time, about: they are kept in its row. */
const FRAMES_MAX = 500;

/** How many children may run at once: what was asked for, unless containers inside each other would multiply. */
export function widthOf(walk: Walk, frame: Frame, asked: number): number {
  const step = stepAt(walk.program, frame);
  if (step?.type === "foreach" && !isContainer(step.step)) return asked;
  let outermost = frame;
  let outerWidth = 1;
  for (let key = frame.parent; key !== null; key = outermost.parent) {
    const outer = walk.state.frames[key];
    if (outer === undefined) break;
    outermost = outer;
    outerWidth *= outer.children?.parallel ?? 1;
  }
  const top = stepAt(walk.program, outermost);
  const levels = top === undefined ? 1 : levelsBelow(top);
  const share = FRAMES_MAX / topWidth(walk, frame.module) / levels / outerWidth;
  return Math.max(1, Math.min(Math.floor(asked), Math.floor(share)));
}

/** Steps of modules' own that may be under way beside each other. */
function topWidth({ program }: Walk, module: number): number {
  const ofModule = program.modules[module]?.waitsFor === undefined ? 1 : STEPS_AT_ONCE;
  return Math.min(MODULES_AT_ONCE, program.modules.length) * ofModule;
}

/** Starts what a container may still start; leaves it once nothing runs any more. */
export function moreChildren(walk: Walk, key: string): void {
  const container = walk.state.frames[key];
  const step = container === undefined ? undefined : stepAt(walk.program, container);
  if (container === undefined || step === undefined) return;
  for (
    let frame: Frame | undefined = container;
    frame?.children !== undefined;
    frame = walk.state.frames[key]
  ) {
    const { total, next, running, parallel } = frame.children;
    if (next >= total) break;
    if (step.type === "foreach" && !isContainer(step.step)) {
      // An executor works through a batch by itself, so many at a time as the author said.
      if (running > 0) break;
      const items = [next, Math.min(total, next + ITEMS_PER_BATCH)] as const;
      const child = { module: frame.module, parent: key, items };
      walk.ask(childKey(key, step.step.name, next), step.step, child, "run");
    } else {
      if (running >= parallel) break;
      const child = childAt(step, next);
      if (child === undefined) break;
      const at = childKey(key, child.name, step.type === "foreach" ? next : undefined);
      walk.ask(at, child, { module: frame.module, parent: key }, isContainer(child) ? "enter" : "run");
    }
  }
  const frame = walk.state.frames[key];
  if (frame?.children?.running !== 0 || frame.children.next < frame.children.total) return;
  // An executor runs the handlers of a container once its children are done.
  const { module, position, parent } = frame;
  walk.ask(key, step, { module, parent, ...(position === undefined ? {} : { position }) }, "leave");
}

function childAt(step: Step, position: number): Step | undefined {
  if (step.type === "foreach") return step.step;
  return step.type === "parallel-steps" ? step.parallel_steps[position] : undefined;
}

/** Levels of steps that a step holds inside each other. */
function levelsBelow(step: Step): number {
  if (step.type === "foreach") return 1 + levelsBelow(step.step);
  if (step.type === "parallel-steps") return 1 + Math.max(0, ...step.parallel_steps.map(levelsBelow));
  return 0;
}

/** `scan` inside item 3 of a foreach is `scan#3`, an item inside that `scan#3.7`; in a flow `module/scan#3`. */
export function childKey(parent: string, name: string, item: number | undefined): string {
  const [base = "", position] = parent.split("#");
  const positions = [position, item].filter((part) => part !== undefined);
  const own = `${base.slice(0, base.lastIndexOf("/") + 1)}${name}`;
  return positions.length === 0 ? own : `${own}#${positions.join(".")}`;
}
