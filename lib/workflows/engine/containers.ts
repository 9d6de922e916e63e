import type { Step } from "../schema/types.ts";
import type { Frame } from "./history.ts";
import { isContainer, stepAt, type Walk } from "./walk.ts";

/** Maximum number of concurrent modules of a flow, and of concurrent steps of one module. */
export const MODULES_AT_ONCE = 8;
export const STEPS_AT_ONCE = 8;

/** Number of foreach items in one batch, which one executor processes. */
export const ITEMS_PER_BATCH = 1_000;

/** Approximate maximum number of running steps of a run; all of them are stored in the run's row. */
const FRAMES_MAX = 500;

/** Returns how many children may run concurrently: the requested number, unless nested containers would multiply it. */
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

/** Returns the maximum number of concurrent top-level steps of all modules. */
function topWidth({ program }: Walk, module: number): number {
  const ofModule = program.modules[module]?.waitsFor === undefined ? 1 : STEPS_AT_ONCE;
  return Math.min(MODULES_AT_ONCE, program.modules.length) * ofModule;
}

/** Starts as many children as the container allows; leaves the container when none is running. */
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
      // An executor processes a batch by itself, with the concurrency that the author chose.
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
  // An executor runs the handlers of a container after its children are done.
  const { module, position, parent } = frame;
  walk.ask(key, step, { module, parent, ...(position === undefined ? {} : { position }) }, "leave");
}

function childAt(step: Step, position: number): Step | undefined {
  if (step.type === "foreach") return step.step;
  return step.type === "parallel-steps" ? step.parallel_steps[position] : undefined;
}

/** Returns the number of nested container levels below a step. */
function levelsBelow(step: Step): number {
  if (step.type === "foreach") return 1 + levelsBelow(step.step);
  if (step.type === "parallel-steps") return 1 + Math.max(0, ...step.parallel_steps.map(levelsBelow));
  return 0;
}

/** Item 3 of foreach `scan` is `scan#3`, item 7 of a foreach inside it `scan#3.7`; in a flow, `module/scan#3`. */
export function childKey(parent: string, name: string, item: number | undefined): string {
  const [base = "", position] = parent.split("#");
  const positions = [position, item].filter((part) => part !== undefined);
  const own = `${base.slice(0, base.lastIndexOf("/") + 1)}${name}`;
  return positions.length === 0 ? own : `${own}#${positions.join(".")}`;
}
