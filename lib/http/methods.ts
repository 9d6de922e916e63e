/** The paths of an OpenAPI document, as far as `methodsAt` uses them. */
export type ApiPaths = Readonly<Record<string, Readonly<Record<string, { readonly security?: unknown }>>>>;

export interface Methods {
  /** In upper case. */
  readonly methods: readonly string[];
  /** All of them require authentication. */
  readonly needsToken: boolean;
}

/** The methods of a path, or undefined if it does not exist. The most specific path matches. */
export function methodsAt(paths: ApiPaths, path: string): Methods | undefined {
  const parts = path.replace(/\/$/, "").split("/");
  const matching = Object.keys(paths)
    .filter((known) => matches(known.split("/"), parts))
    .toSorted((one, other) => literals(other) - literals(one));
  const [found] = matching;
  if (found === undefined) return undefined;
  const operations = paths[found] ?? {};
  return {
    methods: Object.keys(operations).map((method) => method.toUpperCase()),
    needsToken: Object.values(operations).every(({ security }) => security === undefined),
  };
}

const isParameter = (part: string): boolean => part.startsWith("{");
const literals = (path: string): number => path.split("/").filter((part) => !isParameter(part)).length;

const matches = (known: readonly string[], parts: readonly string[]): boolean =>
  known.length === parts.length &&
  known.every((part, at) => (isParameter(part) ? parts[at] !== "" : part === parts[at]));
