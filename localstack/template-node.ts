import { parseDocument, type ScalarTag } from "yaml";

/** The template cannot be read; the message names the file and the resource. */
export class TemplateError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "TemplateError";
  }
}

/** Names begin with the main stack's name, which is a parameter of nested stacks. */
const STACK_PREFIXES = ["${AWS::StackName}-", "${StackName}-"] as const;

/** CloudFormation's short forms, which become the long ones; other tags are ignored. */
const SHORT_FORMS: ScalarTag[] = [
  { tag: "!Ref", resolve: (text) => ({ Ref: text }) },
  { tag: "!Sub", resolve: (text) => ({ "Fn::Sub": text }) },
  { tag: "!GetAtt", resolve: (text) => ({ "Fn::GetAtt": attributeOf(text) }) },
];

/** `Stack.Outputs.Name` names the attribute `Outputs.Name`. */
function attributeOf(text: string): readonly string[] {
  const dot = text.indexOf(".");
  return dot < 0 ? [text] : [text.slice(0, dot), text.slice(dot + 1)];
}

/** Parses a template's text. Errors contain `name`. Throws TemplateError with line and column. */
export function parseTemplate(text: string, name: string): TemplateNode {
  const document = parseDocument(text, { customTags: SHORT_FORMS, logLevel: "error" });
  const [error] = document.errors;
  if (error !== undefined) throw new TemplateError(`${name}: ${error.message}`, { cause: error });
  const root = new TemplateNode(document.toJS() as unknown, name, []);
  root.at("Resources").record();
  return root;
}

/** A position in a template, with or without a value. The readers throw TemplateError naming the position. */
export class TemplateNode {
  readonly #value: unknown;
  readonly #file: string;
  readonly #path: readonly string[];
  constructor(value: unknown, file: string, path: readonly string[]) {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  get exists(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  /** The child with this key, without a value if this node has none. */
  at(key: string): TemplateNode {
    const record = this.exists ? this.record() : {};
    return new TemplateNode(Object.hasOwn(record, key) ? record[key] : undefined, this.#file, [
      ...this.#path,
      key,
    ]);
  }

  record(): Readonly<Record<string, unknown>> {
    if (typeof this.#value !== "object" || this.#value === null || Array.isArray(this.#value)) {
      return this.fail("must be a map");
    }
    return this.#value as Record<string, unknown>;
  }

  entries(): (readonly [string, TemplateNode])[] {
    return this.exists ? Object.keys(this.record()).map((key) => [key, this.at(key)]) : [];
  }

  /** The items of a list; empty without a value. */
  items(): TemplateNode[] {
    if (!this.exists) return [];
    if (!Array.isArray(this.#value)) return this.fail("must be a list");
    return this.#value.map(
      (item, index) => new TemplateNode(item, this.#file, [...this.#path, String(index)]),
    );
  }

  text(missing?: string): string {
    if (!this.exists && missing !== undefined) return missing;
    return typeof this.#value === "string" ? this.#value : this.fail("must be text");
  }

  number(missing?: number): number {
    if (!this.exists && missing !== undefined) return missing;
    return typeof this.#value === "number" && Number.isFinite(this.#value)
      ? this.#value
      : this.fail("must be a number");
  }

  flag(missing = false): boolean {
    if (!this.exists) return missing;
    return typeof this.#value === "boolean" ? this.#value : this.fail("must be true or false");
  }

  /** The name after the stack's prefix, in `Fn::Sub: ${AWS::StackName}-name`. */
  stackName(): string {
    const text = this.exists ? this.record()["Fn::Sub"] : undefined;
    const prefix =
      typeof text === "string" ? STACK_PREFIXES.find((start) => text.startsWith(start)) : undefined;
    if (typeof text !== "string" || prefix === undefined || text.length === prefix.length) {
      return this.fail(`must be Fn::Sub: ${STACK_PREFIXES[0]}<name>`);
    }
    return text.slice(prefix.length);
  }

  /** The resource and the attribute that `Fn::GetAtt: [<resource>, <attribute>]` names. */
  referenced(): { readonly id: string; readonly attribute: string } {
    const [id, attribute] = this.at("Fn::GetAtt").items();
    return id !== undefined && attribute !== undefined
      ? { id: id.text(), attribute: attribute.text() }
      : this.fail("must be Fn::GetAtt: [<resource>, Arn]");
  }

  fail(problem: string): never {
    const [section, ...rest] = this.#path;
    const place =
      section === "Resources" && rest.length > 0
        ? [rest[0], rest.slice(1).join(".")]
        : [this.#path.join(".")];
    throw new TemplateError(`${[this.#file, ...place].filter((part) => part !== "").join(": ")} ${problem}`);
  }
}
