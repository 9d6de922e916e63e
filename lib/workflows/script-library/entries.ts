import { spellingsOf } from "./callables.ts";
import type { LibraryFunction } from "./library-types.ts";
import { WORKSPACE_FUNCTIONS } from "./workspace-functions.ts";

/** A function's documentation, without its implementation, for use where the library is not loaded. */
export interface DescribedFunction extends Pick<LibraryFunction, "group" | "params" | "summary"> {
  readonly returns: string;
  readonly example?: string;
  readonly unavailable?: boolean;
  readonly place: FunctionEntry["place"];
}

/** A function as listed. */
export interface FunctionEntry {
  readonly name: string;
  /** The name with its parameters. */
  readonly signature: string;
  readonly aliases: readonly string[];
  readonly return_type: string;
  readonly description: string;
  readonly example: string;
  /** Its group. */
  readonly tags: readonly string[];
  readonly available: boolean;
  readonly place: "anywhere" | "workspace";
}

/** Example values of parameters, by name. */
const EXAMPLE_VALUES: Readonly<Record<string, string>> = {
  path: '"hosts.txt"',
  source: '"in.txt"',
  input: '"in.txt"',
  dest: '"out.txt"',
  output: '"out.txt"',
  url: '"https://example.com/"',
  pattern: '"^[a-z]+$"',
  query: '".name"',
  seconds: "2",
  code: "1",
  value: "target",
  content: "{ host: target }",
  folder: '"cache"',
  keep_file: '"keep.txt"',
  list: '["a", "b"]',
  length: "8",
  data: "{ host: target }",
  json: "{ name: target }",
};

/** The functions by group, in the order of the library; unavailable ones are last. */
export function functionEntries(functions: Readonly<Record<string, DescribedFunction>>): FunctionEntry[] {
  const all = Object.entries(functions).map(([name, entry]): FunctionEntry => toEntry(name, entry));
  const groups = [...Map.groupBy(all, ({ tags, available }) => `${available} ${tags[0]}`).values()].flat();
  return [...groups.filter(({ available }) => available), ...groups.filter(({ available }) => !available)];
}

function toEntry(name: string, entry: DescribedFunction): FunctionEntry {
  const [, ...aliases] = spellingsOf(name);
  return {
    name,
    signature: `${name}(${entry.params.join(", ")})`,
    aliases,
    return_type: entry.returns,
    description: entry.summary,
    example: exampleOf(name, entry),
    tags: [entry.group],
    available: entry.unavailable !== true,
    place: entry.place,
  };
}

/** A call with an example value for each required parameter. */
function exampleOf(name: string, { example, params }: DescribedFunction): string {
  if (example !== undefined) return example;
  const needed = params.filter((param) => !param.endsWith("?"));
  return `${name}(${needed.map((param) => EXAMPLE_VALUES[param] ?? `"${param}"`).join(", ")})`;
}

/** A compact list of the functions: one array of texts per function. */
export function functionRows(functions: Readonly<Record<string, LibraryFunction>>): string[][] {
  return Object.entries(functions).map(([name, entry]) => [
    name,
    entry.group,
    entry.params.join(","),
    entry.returns,
    entry.summary,
    entry.example ?? "",
    entry.unavailable === true ? UNAVAILABLE : WORKSPACE_FUNCTIONS.has(name) ? IN_WORKSPACE : "",
  ]);
}

const UNAVAILABLE = "-";
const IN_WORKSPACE = "w";

/** The inverse of `functionRows`. */
export function describedByRows(
  rows: readonly (readonly string[])[],
): Readonly<Record<string, DescribedFunction>> {
  return Object.fromEntries(
    rows.map(([name = "", group = "", params = "", returns = "", summary = "", example = "", state = ""]) => [
      name,
      {
        group,
        params: params === "" ? [] : params.split(","),
        returns,
        summary,
        ...(example === "" ? {} : { example }),
        unavailable: state === UNAVAILABLE,
        place: state === IN_WORKSPACE ? "workspace" : "anywhere",
      },
    ]),
  );
}
