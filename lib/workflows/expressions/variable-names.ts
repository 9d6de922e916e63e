/** A name under which templates find what a step made: everything but letters, digits and `_` becomes `_`. */
export function variableName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, "_");
}

/** What loops with these variables, outermost first, let templates name. */
export function loopNames(variables: readonly string[]): readonly string[] {
  return variables.length === 0 ? [] : [...variables.flatMap((name) => [name, `_${name}_`]), "_id_"];
}
