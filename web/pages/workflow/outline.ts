import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from "yaml";
import type { Outline, OutlineStep } from "./outline-steps.ts";

/** Containers deeper than this are not shown; the service allows less. */
const DEPTH_MAX = 16;
/** Steps that are shown. */
const STEPS_MAX = 2_000;

/** Reads the steps of a text, also of one that is being written: what cannot be read is missing. */
export function outlineOf(text: string): Outline {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  if (!isMap(contents)) return { name: "", steps: [] };
  const steps: OutlineStep[] = [];
  const add = (map: YAMLMap, depth: number): void => {
    if (steps.length >= STEPS_MAX || depth > DEPTH_MAX) return;
    const [from, , to] = map.range ?? [0, 0, 0];
    const dependsOn = map.get("depends_on");
    steps.push({
      name: textOf(map.get("name", true)),
      type: textOf(map.get("type", true)),
      depth,
      dependsOn: isSeq(dependsOn) ? dependsOn.items.map(textOf) : [textOf(map.get("depends_on", true))],
      from: lines.linePos(from).line,
      // The range of a block ends where the next one begins.
      to: lines.linePos(Math.max(from, to - 1)).line,
    });
    const [child, children] = [map.get("step"), map.get("parallel_steps")];
    if (isMap(child)) add(child, depth + 1);
    if (isSeq(children)) for (const one of mapsOf(children.items)) add(one, depth + 1);
  };
  for (const key of ["steps", "modules"]) {
    const list = contents.get(key);
    if (isSeq(list)) for (const one of mapsOf(list.items)) add(one, 0);
  }
  return { name: textOf(contents.get("name", true)), steps: inOrder(steps.map(withoutEmpty)) };
}

const mapsOf = (items: readonly unknown[]): YAMLMap[] => items.filter((item): item is YAMLMap => isMap(item));
const textOf = (node: Node | unknown): string =>
  isScalar(node) && node.value !== null ? String(node.value) : "";
const withoutEmpty = (step: OutlineStep): OutlineStep => ({
  ...step,
  dependsOn: step.dependsOn.filter((name) => name !== ""),
});

/** Steps with their children, in the order of the text but after all that they depend on. A circle stays as it is. */
function inOrder(steps: readonly OutlineStep[]): OutlineStep[] {
  const groups: { readonly first: OutlineStep; readonly all: OutlineStep[] }[] = [];
  for (const step of steps) {
    if (step.depth === 0) groups.push({ first: step, all: [step] });
    else groups.at(-1)?.all.push(step);
  }
  const byName = new Map(groups.map((group) => [group.first.name, group]));
  const ordered = new Set<(typeof groups)[number]>();
  const visited = new Set<(typeof groups)[number]>();
  const visit = (group: (typeof groups)[number]): void => {
    if (visited.has(group)) return;
    visited.add(group);
    for (const name of group.first.dependsOn) {
      const dependency = byName.get(name);
      if (dependency !== undefined) visit(dependency);
    }
    ordered.add(group);
  };
  for (const group of groups) visit(group);
  return [...ordered].flatMap(({ all }) => all);
}
