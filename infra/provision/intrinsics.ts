/** A part of a template, as its YAML holds it. */
export type Part = Readonly<Record<string, unknown>>;

export function partOf(value: unknown): Part {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const STACK_NAME = /\$\{AWS::StackName\}/g;

/** Text as it is in a stack of this name. Throws for another function than `Fn::Sub` of the stack's name. */
export function textIn(stack: string, value: unknown): string {
  if (typeof value === "string") return value;
  const pattern = partOf(value)["Fn::Sub"];
  const text = typeof pattern === "string" ? pattern.replace(STACK_NAME, stack) : "${";
  if (text.includes("${")) throw new Error(`cannot work out ${JSON.stringify(value)}`);
  return text;
}

/** The logical id that `Ref` or `Fn::GetAtt` names. Throws for anything else. */
export function logicalIdOf(value: unknown): string {
  const { Ref: ref, "Fn::GetAtt": attribute } = partOf(value);
  const [id] = listOf(attribute);
  const found = ref ?? id;
  if (typeof found !== "string") throw new Error(`${JSON.stringify(value)} names no resource`);
  return found;
}

export function numberOf(value: unknown): number {
  if (typeof value !== "number") throw new Error(`${JSON.stringify(value)} is not a number`);
  return value;
}
