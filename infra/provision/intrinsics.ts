/** An object in a template's YAML. */
export type Part = Readonly<Record<string, unknown>>;

export function partOf(value: unknown): Part {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A nested stack receives the main stack's name as a parameter. */
const STACK_NAME = /\$\{(?:AWS::)?StackName\}/g;

/** Resolves a text for a stack of this name. Throws for intrinsic functions other than `Fn::Sub` of the stack's name. */
export function resolveText(stack: string, value: unknown): string {
  if (typeof value === "string") return value;
  const pattern = partOf(value)["Fn::Sub"];
  const text = typeof pattern === "string" ? pattern.replace(STACK_NAME, stack) : "${";
  if (text.includes("${")) throw new Error(`cannot resolve ${JSON.stringify(value)}`);
  return text;
}

/** The resource that `Ref` or `Fn::GetAtt` refers to, and the attribute, if any. Throws for anything else. */
export function toReference(value: unknown): { readonly id: string; readonly attribute?: string } {
  const { Ref: ref, "Fn::GetAtt": get } = partOf(value);
  const [first, attribute] = listOf(get);
  const id = ref ?? first;
  if (typeof id !== "string") throw new Error(`${JSON.stringify(value)} does not refer to a resource`);
  return typeof attribute === "string" ? { id, attribute } : { id };
}

export function toNumber(value: unknown): number {
  if (typeof value !== "number") throw new Error(`${JSON.stringify(value)} is not a number`);
  return value;
}
