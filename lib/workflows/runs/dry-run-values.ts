import type { Ports } from "../../platform/ports.ts";
import { isReference, parseTemplate, type Reference, referencedNames } from "../expressions/parse.ts";
import { renderScript } from "../expressions/render-script.ts";
import { renderText, renderValue } from "../expressions/render-text.ts";
import { loopNames } from "../expressions/variable-names.ts";

/** Names whose values are known only during the run: results of steps, and loop variables. */
export interface DeferredValue {
  readonly made: ReadonlySet<string>;
  /** Prefixes of names that steps set. */
  readonly beginnings: readonly string[];
  readonly loops: readonly string[];
}

export type Truth =
  | { readonly is: "true" }
  | { readonly is: "false" }
  | { readonly is: "unknown"; readonly why: string };

const CONDITION_TIMEOUT_MS = 2_000;

const IDENTIFIER = /(?<![\w$])(\.\s*)?([A-Za-z_$][\w$]*)/g;

const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;

/** Names that a condition may use in a dry run: evaluating them reads no files and starts nothing. */
const HARMLESS: ReadonlySet<string> = new Set([
  "true",
  "false",
  "null",
  "undefined",
  "typeof",
  "in",
  "instanceof",
  "NaN",
  "Infinity",
  "String",
  "Number",
  "Boolean",
  "Array",
  "Object",
  "JSON",
  "Math",
  "Date",
  "RegExp",
  "parseInt",
  "parseFloat",
  "isNaN",
  "isFinite",
  "new",
  "void",
]);

/** The values known before a run; unknown placeholders stay as written. */
export class PlanValues {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #later: DeferredValue;
  readonly #loopNames: readonly string[];

  constructor(values: Readonly<Record<string, unknown>>, later: DeferredValue) {
    this.#values = values;
    this.#later = later;
    this.#loopNames = loopNames(later.loops);
  }

  /** Renders the known values of a text; for a template that does not parse, returns the reason. */
  text(source: string): string {
    try {
      const template = parseTemplate(source, { loopVariables: this.#loopNames });
      return template.parts
        .map((part) => (isReference(part) ? this.#reference(source, part) : part))
        .join("");
    } catch (error) {
      return `${source} [${error instanceof Error ? error.message : String(error)}]`;
    }
  }

  /** Returns the value of a template; undefined if it is unknown. */
  value(source: string): unknown {
    try {
      const template = parseTemplate(source, { loopVariables: this.#loopNames });
      if (referencedNames(template).some((name) => this.#isLater(name))) return undefined;
      return renderValue(template, this.#values);
    } catch {
      return undefined;
    }
  }

  /** Evaluates a condition only if all names in it are known and none is a function of the script library. */
  async isTrue(deps: Pick<Ports, "scripts" | "ids">, condition: string): Promise<Truth> {
    let names: readonly string[];
    try {
      names = referencedNames(parseTemplate(condition, { loopVariables: this.#loopNames }));
    } catch (error) {
      return {
        is: "unknown",
        why: `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      };
    }
    const bare = condition.replaceAll(/\{\{.*?\}\}/gs, "0").replaceAll(QUOTED, '""');
    const named = [...bare.matchAll(IDENTIFIER)];
    if (
      named.some(
        ([, dot, name = ""]) => name === "constructor" || (dot === undefined && this.#isUnknown(name)),
      )
    ) {
      const which = named.find(([, dot, name = ""]) => dot === undefined && this.#isUnknown(name))?.[2];
      return {
        is: "unknown",
        why: `is known only during the run: it requires ${which ?? "more than values"}`,
      };
    }
    const later = names.find((name) => this.#isLater(name));
    if (later !== undefined)
      return { is: "unknown", why: `is known only during the run: it requires ${later}` };
    return this.#evaluated(deps, condition);
  }

  async #evaluated(deps: Pick<Ports, "scripts" | "ids">, condition: string): Promise<Truth> {
    try {
      const { code, variables } = renderScript(condition, this.#values, { condition: true });
      const outcome = await deps.scripts.run({
        code,
        variables: { ...this.#namedIn(code), ...variables },
        cwd: "/",
        env: {},
        timeoutMs: CONDITION_TIMEOUT_MS,
        isolate: deps.ids.random(),
        token: "dry-run",
      });
      if (!outcome.ok) return { is: "unknown", why: `fails: ${outcome.message}` };
      return { is: outcome.value ? "true" : "false" };
    } catch (error) {
      return { is: "unknown", why: `fails: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  #namedIn(code: string): Record<string, unknown> {
    const names = [...code.matchAll(IDENTIFIER)].map(([, , name = ""]) => name);
    return Object.fromEntries(
      names.flatMap((name) =>
        Object.hasOwn(this.#values, name) ? [[name, this.#values[name]] as const] : [],
      ),
    );
  }

  #reference(source: string, reference: Reference): string {
    const template = { text: source, parts: [reference] };
    const names = referencedNames(template);
    if (names.some((name) => name.startsWith("secrets."))) return "***";
    if (!names.some((name) => this.#isLater(name))) return renderText(template, this.#values);
    const closing = source.startsWith("[[", reference.offset) ? "]]" : "}}";
    return source.slice(reference.offset, source.indexOf(closing, reference.offset) + closing.length);
  }

  #isUnknown(name: string): boolean {
    if (HARMLESS.has(name)) return false;
    return this.#isLater(name) || !Object.hasOwn(this.#values, name);
  }

  #isLater(name: string): boolean {
    if (name.startsWith("secrets.") || this.#loopNames.includes(name) || this.#later.made.has(name))
      return true;
    if (Object.hasOwn(this.#values, name)) return false;
    return this.#later.beginnings.some((beginning) => name.startsWith(beginning));
  }
}
