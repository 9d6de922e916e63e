import { formatPath, type Path, type Problem } from "./problems.ts";
import { isFreeForm, TreeGuard } from "./tree-guard.ts";

/** A definition as plain values, with the source position of each value if known. */
export interface Source {
  readonly value: unknown;
  /** Position of the value at a path, or of the nearest enclosing value. */
  locate(path: Path): { line: number; column: number } | undefined;
  /** A hint to add to the error if the value at a path has the wrong type. */
  hint(path: Path): string | undefined;
}

export type SourceOutcome =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly errors: readonly Problem[] };

/** Maximum number of list items in a definition. */
const JSON_ITEMS = 50_000;

/** Reads a definition from a JSON value: copies it, since the caller owns it, and checks it like a YAML definition. */
export function readJson(json: unknown): SourceOutcome {
  const errors: Problem[] = [];
  const value = copy(json, [], { guard: new TreeGuard(), items: 0, errors });
  if (errors.length > 0) return { ok: false, errors };
  return { ok: true, source: { value, locate: () => undefined, hint: () => undefined } };
}

interface Walk {
  readonly guard: TreeGuard;
  items: number;
  readonly errors: Problem[];
}

function copy(value: unknown, path: Path, walk: Walk): unknown {
  if (walk.errors.length > 0) return undefined;
  const refuse = (message: string | undefined, at: Path = path): boolean => {
    if (message !== undefined) walk.errors.push({ message, path: formatPath(at) });
    return message !== undefined;
  };
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") {
    refuse(Number.isFinite(value) ? undefined : "must be a finite number");
    return value;
  }
  if (typeof value === "string") {
    refuse(walk.guard.text(value));
    return value;
  }
  if (typeof value !== "object") {
    refuse("must be a JSON value");
    return undefined;
  }
  if (refuse(walk.guard.enter(path.length + 1))) return undefined;
  if (Array.isArray(value)) {
    walk.items += value.length;
    if (refuse(walk.items > JSON_ITEMS ? `more than ${JSON_ITEMS} list items` : undefined)) return undefined;
    return value.map((item: unknown, at) => copy(item, [...path, at], walk));
  }
  const entries = Object.entries(value);
  if (refuse(walk.guard.map(entries.length))) return undefined;
  const copied: Record<string, unknown> = {};
  for (const [key, item] of entries) {
    if (refuse(walk.guard.key(key), [...path, key])) return undefined;
    // A key with a null value counts as missing, in YAML as in JSON.
    if (item === undefined || (item === null && !isFreeForm(path))) continue;
    copied[key] = copy(item, [...path, key], walk);
  }
  return copied;
}
