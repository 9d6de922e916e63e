const KEBAB = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const CAMEL = /^[a-z][A-Za-z0-9]*$/;

export function isKebabCase(text: string): boolean {
  return KEBAB.test(text);
}

export function isCamelCase(text: string): boolean {
  return CAMEL.test(text);
}

/** Converts `index-events` or `indexEvents` to `IndexEvents`, the form of CloudFormation's logical ids. */
export function toPascalCase(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Compares texts by code units, so that the order does not depend on the machine's locale. */
export function byCodeUnits(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
