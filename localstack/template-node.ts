import { parseDocument, type ScalarTag } from "yaml";

/** The template cannot be read; the message names the file and the resource. */
export class TemplateError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "TemplateError";
  }
}

/** Names begin with the main stack's, which a nested stack knows as a parameter. */
const STACK_PREFIXES = ["${AWS::StackName}-", "${StackName}-"] as const;

/** CloudFormation's short forms become the long ones; other tags are read as if they were not there. */
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

/** Parses a template's text. `name` is how errors call it. Throws TemplateError with line and column. */
export function parseTemplate(text: string, name: string): Node {
  const document = parseDocument(text, { customTags: SHORT_FORMS, logLevel: "error" });
  const [error] = document.errors;
  if (error !== undefined) throw new TemplateError(`${name}: ${error.message}`, { cause: error });
  const root = new Node(document.toJS() as unknown, name, []);
  root.at("Resources").record();
  return root;
}

/** A place in a template, whose value is there or not. Each reading throws TemplateError naming the place. */
export class Node {
  readonly #value: unknown;
  readonly #file: string;
  readonly #path: readonly string[];
  constructor(value: unknown, file: string, path: readonly string[]) {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  get isThere(): boolean {
    return this.#value !== undefined && this.#value !== null;
  }

  /** The place below; it is not there where this one is not. */
  at(key: string): Node {
    const record = this.isThere ? this.record() : {};
    return new Node(Object.hasOwn(record, key) ? record[key] : undefined, this.#file, [...this.#path, key]);
  }

  record(): Readonly<Record<string, unknown>> {
    if (typeof this.#value !== "object" || this.#value === null || Array.isArray(this.#value)) {
      return this.fail("must be a map");
    }
    return this.#value as Record<string, unknown>;
  }

  entries(): (readonly [string, Node])[] {
    return this.isThere ? Object.keys(this.record()).map((key) => [key, this.at(key)]) : [];
  }

  /** Those of a list; none where there is no list. */
  items(): Node[] {
    if (!this.isThere) return [];
    if (!Array.isArray(this.#value)) return this.fail("must be a list");
    return this.#value.map((item, index) => new Node(item, this.#file, [...this.#path, String(index)]));
  }

  text(missing?: string): string {
    if (!this.isThere && missing !== undefined) return missing;
    return typeof this.#value === "string" ? this.#value : this.fail("must be text");
  }

  number(missing?: number): number {
    if (!this.isThere && missing !== undefined) return missing;
    return typeof this.#value === "number" && Number.isFinite(this.#value)
      ? this.#value
      : this.fail("must be a number");
  }

  flag(missing = false): boolean {
    if (!this.isThere) return missing;
    return typeof this.#value === "boolean" ? this.#value : this.fail("must be true or false");
  }

  /** The name after the stack's prefix, in `Fn::Sub: ${AWS::StackName}-name`. */
  stackName(): string {
    const text = this.isThere ? this.record()["Fn::Sub"] : undefined;
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
