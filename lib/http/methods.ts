/** Paths of an OpenAPI document, as far as methods are looked up in them. */
export type ApiPaths = Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>;

export interface Methods {
  /** In capitals. */
  readonly methods: readonly string[];
  /** None of them is for those without a token. */
  readonly needsToken: boolean;
}

/** Methods that there are at a path; undefined where there is no such path. Of two that fit, the one that says more. */
export function methodsAt(paths: ApiPaths, path: string): Methods | undefined {
  const parts = path.replace(/\/$/, "").split("/");
  const fitting = Object.keys(paths)
    .filter((known) => fits(known.split("/"), parts))
    .toSorted((one, other) => literals(other) - literals(one));
  const [found] = fitting;
  if (found === undefined) return undefined;
  const operations = paths[found] ?? {};
  return {
    methods: Object.keys(operations).map((method) => method.toUpperCase()),
    needsToken: Object.values(operations).every(({ security }) => security === undefined),
  };
}

const isParameter = (part: string): boolean => part.startsWith("{");
const literals = (path: string): number => path.split("/").filter((part) => !isParameter(part)).length;

const fits = (known: readonly string[], parts: readonly string[]): boolean =>
  known.length === parts.length &&
  known.every((part, at) => (isParameter(part) ? parts[at] !== "" : part === parts[at]));
