import { PROBLEMS_TOLD } from "./limits.ts";

/** One thing that is wrong with a definition. Line and column count from 1; definitions in JSON have none. */
export interface Problem {
  readonly message: string;
  /** `steps[2].parallel_steps[0].type` */
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
}

export type Path = readonly (string | number)[];

/** Takes what the rules across parts of a workflow have to say. */
export interface Findings {
  refuse(path: Path, message: string): void;
  warn(path: Path, message: string): void;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const SHOWN_CHARACTERS = 64;

/** A path as users read it; "" for the definition itself. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (!PLAIN_KEY.test(part)) text += `[${JSON.stringify(shorten(part))}]`;
    else text += text === "" ? shorten(part) : `.${shorten(part)}`;
  }
  return text;
}

/** A problem in one line: `line 3, column 5: steps[2].type: unknown step type "bsh"`. */
export function describeProblem(problem: Problem): string {
  const place = problem.line === undefined ? "" : `line ${problem.line}, column ${problem.column}: `;
  const path = problem.path === undefined ? "" : `${problem.path}: `;
  return `${place}${path}${problem.message}`;
}

/** Users' text inside a message: one line, not too long. */
export function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS - 1)}…` : line;
}

/** The first of a list; what is left out is counted in a last line made by `rest`. */
export function cutList<Item>(items: readonly Item[], rest: (count: number) => Item): Item[] {
  if (items.length <= PROBLEMS_TOLD) return [...items];
  return [...items.slice(0, PROBLEMS_TOLD), rest(items.length - PROBLEMS_TOLD)];
}
