import * as z from "zod";

export type JsonSchema = Readonly<Record<string, unknown>>;

const DEFINITION = "#/$defs/";
const COMPONENT = "#/components/schemas/";

/** Named schemas of the document, collected while it is written. */
export class Components {
  readonly schemas = new Map<string, JsonSchema>();

  /** Adds a schema under a name. */
  add(name: string, schema: JsonSchema): { $ref: string } {
    const known = this.schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas have the id ${name}: change one of them`);
    }
    this.schemas.set(name, schema);
    return { $ref: COMPONENT + name };
  }

  /**
   * The JSON Schema 2020-12 of a request or response. A schema with `.meta({ id })` becomes a component; a recursive
   * schema without an id gets a name derived from `place`. Types that JSON Schema cannot express become `{}`.
   */
  of(schema: z.ZodType, place: string): JsonSchema {
    // Wrapped in an array, so that a recursive schema gets a name like any other.
    const { items, $defs } = z.toJSONSchema(z.array(schema), {
      io: "input",
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => cleanSchema(zodSchema, jsonSchema),
    }) as Record<string, unknown>;
    const nameOf = (definition: string): string => definition.replace(/^__schema/, `${place}Schema`);
    for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, unknown>)) {
      this.add(nameOf(name), rewriteReferences(definition, nameOf) as JsonSchema);
    }
    return rewriteReferences(items, nameOf) as JsonSchema;
  }

  /** Sorted by name. */
  toObject(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.schemas].sort(([left], [right]) => (left < right ? -1 : 1)));
  }
}

/** Keeps the default that `.meta` contains, and removes bounds that apply to every JSON number. */
function cleanSchema(schema: z.core.$ZodType, json: Record<string, unknown>): void {
  const meta = z.globalRegistry.get(schema);
  if (meta !== undefined && "default" in meta) json.default = meta.default;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
}

function rewriteReferences(value: unknown, nameOf: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => rewriteReferences(item, nameOf));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, rewriteReferences(inner, nameOf)];
      return [key, inner.startsWith(DEFINITION) ? COMPONENT + nameOf(inner.slice(DEFINITION.length)) : inner];
    }),
  );
}
