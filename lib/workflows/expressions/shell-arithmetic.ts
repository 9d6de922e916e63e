/**
 * Where bash evaluates text as arithmetic. There a value like `a[$(command)]` runs the command even
 * though it came out of a variable, so only integers may stand in such places.
 */

const SUBSCRIPT_OR_OFFSET = /^[#!]?(?:\w+|[@*])(?:\[[^\]]*$|(?:\[[^\]]*\])?:(?![-=?+]))/;
const ELEMENT = /^["']?[A-Za-z_]\w*\[[^\]]*$/;
const ELEMENT_OF_LIST = /^["']?\[[^\]]*$/;
const QUOTE_ONLY = /^["']?$/;
/** Builtins that take names of variables; a name may have a subscript, which is evaluated. */
const TAKES_NAMES: ReadonlySet<string> = new Set([
  "declare",
  "export",
  "local",
  "mapfile",
  "read",
  "readarray",
  "readonly",
  "typeset",
  "unset",
]);
const DECLARES: ReadonlySet<string> = new Set(["declare", "local", "typeset"]);
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

/** Whether what follows this start of a word of `a=(…)` is the subscript of the element that is set. */
export function isElementOfList(word: string): boolean {
  return ELEMENT_OF_LIST.test(word);
}

/** Whether what follows this start of a word, with that word before it, names a variable for the command. */
export function isVariableName(word: string, command: string, previous: string): boolean {
  if (!QUOTE_ONLY.test(word)) return false;
  return TAKES_NAMES.has(command) || (previous === "-v" && /^(?:printf|test|\[)$/.test(command));
}

/** Whether after this option of the command its variables are integers, or refer to others. */
export function makesIntegers(option: string, command: string | undefined): boolean {
  return command !== undefined && DECLARES.has(command) && /^-\w*[in]/.test(option);
}

/** Whether a place inside `[[ … ]]` is an operand of `-eq`, `-lt` and the like, or of `-v`. */
export function isCompared(source: string, at: number): boolean {
  return (
    OPERATOR_BEFORE.test(source.slice(Math.max(0, at - REACH), at)) ||
    OPERATOR_AFTER.test(source.slice(at + 1, at + 1 + REACH))
  );
}
