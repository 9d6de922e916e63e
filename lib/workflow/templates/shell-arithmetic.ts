/**
 * Where bash evaluates text as arithmetic. There a value like `a[$(command)]` runs the command even
 * though it came out of a variable, so only integers may stand in such places.
 */

const SUBSCRIPT_OR_OFFSET = /^[#!]?(?:\w+|[@*])(?:\[[^\]]*$|(?:\[[^\]]*\])?:(?![-=?+]))/;
const ELEMENT = /^["']?[A-Za-z_]\w*\[[^\]]*$/;
const OPERATOR_BEFORE = /-(?:eq|ne|lt|le|gt|ge|v)[ \t]+["']?$/;
const OPERATOR_AFTER = /^["']?[ \t]+-(?:eq|ne|lt|le|gt|ge)[ \t]/;
const TAKES_ELEMENTS: ReadonlySet<string> = new Set([
  "declare",
  "export",
  "local",
  "mapfile",
  "printf",
  "read",
  "readonly",
  "test",
  "typeset",
  "unset",
  "[",
]);
/** How far the neighbours of a comparison are looked for. */
const REACH = 24;

/** Whether what follows this inside of a `${…}` is a subscript (`${a[…]}`) or an offset (`${a:…}`). */
export function isSubscriptOrOffset(expansion: string): boolean {
  return SUBSCRIPT_OR_OFFSET.test(expansion);
}

/** Whether what follows this start of a word is the subscript of an array's element that is set or named. */
export function isElement(word: string, command: string | undefined): boolean {
  return (command === undefined || TAKES_ELEMENTS.has(command)) && ELEMENT.test(word);
}

/** Whether a place inside `[[ … ]]` is an operand of `-eq`, `-lt` and the like, or of `-v`. */
export function isCompared(source: string, at: number): boolean {
  return (
    OPERATOR_BEFORE.test(source.slice(Math.max(0, at - REACH), at)) ||
    OPERATOR_AFTER.test(source.slice(at + 1, at + 1 + REACH))
  );
}
