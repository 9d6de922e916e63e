/**
 * Where bash evaluates text as arithmetic. A value like `a[$(command)]` runs the command there even when expanded from
 * a variable, so only integers are allowed.
 */

const SUBSCRIPT_OR_OFFSET = /^[#!]?(?:\w+|[@*])(?:\[[^\]]*$|(?:\[[^\]]*\])?:(?![-=?+]))/;
const ELEMENT = /^["']?[A-Za-z_]\w*\[[^\]]*$/;
const ELEMENT_OF_LIST = /^["']?\[[^\]]*$/;
const QUOTE_ONLY = /^["']?$/;
/** Builtins that take variable names; a name may have a subscript, which is evaluated. */
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
/** Maximum distance at which the neighbours of a comparison are searched, characters. */
const REACH = 24;

/** Whether what follows this start of a `${…}` is a subscript (`${a[…]}`) or an offset (`${a:…}`). */
export function isSubscriptOrOffset(expansion: string): boolean {
  return SUBSCRIPT_OR_OFFSET.test(expansion);
}

/** Whether what follows this start of a word is the subscript of an array element that is assigned or named. */
export function isElement(word: string, command: string | undefined): boolean {
  return (command === undefined || TAKES_ELEMENTS.has(command)) && ELEMENT.test(word);
}

/** Whether what follows this start of a word of `a=(…)` is the subscript of the assigned element. */
export function isElementOfList(word: string): boolean {
  return ELEMENT_OF_LIST.test(word);
}

/** Whether what follows this start of a word, given the previous word, names a variable for the command. */
export function isVariableName(word: string, command: string, previous: string): boolean {
  if (!QUOTE_ONLY.test(word)) return false;
  return TAKES_NAMES.has(command) || (previous === "-v" && /^(?:printf|test|\[)$/.test(command));
}

/** Whether this option of the command makes its variables integers or name references. */
export function makesIntegers(option: string, command: string | undefined): boolean {
  return command !== undefined && DECLARES.has(command) && /^-\w*[in]/.test(option);
}

/** Whether a position inside `[[ … ]]` is an operand of `-eq`, `-lt` and similar operators, or of `-v`. */
export function isCompared(source: string, at: number): boolean {
  return (
    OPERATOR_BEFORE.test(source.slice(Math.max(0, at - REACH), at)) ||
    OPERATOR_AFTER.test(source.slice(at + 1, at + 1 + REACH))
  );
}
