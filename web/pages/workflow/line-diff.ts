import { diffLines } from "diff";

/** Unchanged lines that are shown around a change. */
const CONTEXT = 3;

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Lines, or a number of unchanged lines that are not shown. */
export type DiffPart = { readonly lines: readonly DiffLine[] } | { readonly hidden: number };

/** The lines of two texts as one list, in which unchanged lines far from any change are left out. */
export function lineDiff(before: string, after: string): DiffPart[] {
  const lines = diffLines(before, after).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, "")
      .split("\n")
      .map((text): DiffLine => ({ kind: added ? "added" : removed ? "removed" : "same", text })),
  );
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  );
  const parts: ({ lines: DiffLine[] } | { hidden: number })[] = [];
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1);
    if (isNear[index] === true) {
      if (last !== undefined && "lines" in last) last.lines.push(line);
      else parts.push({ lines: [line] });
    } else if (last !== undefined && "hidden" in last) last.hidden += 1;
    else parts.push({ hidden: 1 });
  }
  return parts;
}
