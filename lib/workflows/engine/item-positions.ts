/** Longest text, characters: it is part of the run's history. */
const TEXT_MAX = 4_000;

/** Writes ascending positions as ranges, such as `3,7-9`; ranges beyond the maximum length are left out. */
export function formatPositions(positions: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last !== undefined && position === last[1] + 1) last[1] = position;
    else ranges.push([position, position]);
  }
  const text = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
  return text.length > TEXT_MAX ? text.slice(0, text.lastIndexOf(",", TEXT_MAX)) : text;
}

/** Reads the ranges of such a text. */
export function parsePositions(text: string): (readonly [from: number, to: number])[] {
  return text.split(",").flatMap((part) => {
    const [from = "", to = from] = part.split("-");
    return from === "" ? [] : [[Number(from), Number(to)] as const];
  });
}
