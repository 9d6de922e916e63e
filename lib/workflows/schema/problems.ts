import { PROBLEMS_REPORTED } from "./limits.ts";

/** A problem in a definition. Line and column are counted from 1; definitions in JSON have none. */
export interface Problem {
  readonly message: string;
  /** `steps[2].parallel_steps[0].type` */
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
}

export type Path = readonly (string | number)[];

/** Collects problems from the rules that span several parts of a workflow. */
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

/** A path in readable form; "" for the definition itself. */
export function formatPath(path: Path): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (!PLAIN_KEY.test(part)) text += `[${JSON.stringify(shorten(part))}]`;
    else text += text === "" ? shorten(part) : `.${shorten(part)}`;
  }
  return text;
}

/** A problem as one line: `line 3, column 5: steps[2].type: unknown step type "bsh"`. */
export function describeProblem(problem: Problem): string {
  const position = problem.line === undefined ? "" : `line ${problem.line}, column ${problem.column}: `;
  const path = problem.path === undefined ? "" : `${problem.path}: `;
  return `${position}${path}${problem.message}`;
}

/** Shortens users' text for a message, to one line. */
export function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS - 1)}…` : line;
}

/** The first items of a list; a last item, made by `rest`, counts the omitted ones. */
export function cutList<Item>(items: readonly Item[], rest: (count: number) => Item): Item[] {
  if (items.length <= PROBLEMS_REPORTED) return [...items];
  return [...items.slice(0, PROBLEMS_REPORTED), rest(items.length - PROBLEMS_REPORTED)];
}
