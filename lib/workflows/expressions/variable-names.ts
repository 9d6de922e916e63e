/** The variable name for a step's exports: every character except letters, digits and `_` becomes `_`. */
export function variableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, "_");
}

/** The names that templates can use inside loops with these variables, outermost first. */
export function loopNames(variables: readonly string[]): readonly string[] {
  return variables.length === 0 ? [] : [...variables.flatMap((name) => [name, `_${name}_`]), "_id_"];
}
