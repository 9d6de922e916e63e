import { formatPath, type Path, type Problem } from "./problems.ts";
import { isFreeForm, TreeGuard } from "./tree-guard.ts";

/** A definition as plain values, and where each of them stands, as far as that is known. */
export interface Source {
  readonly value: unknown;
  /** Where the value at a path stands, or the nearest one around it. */
  locate(path: Path): { line: number; column: number } | undefined;
  /** What to tell besides that the value at a path is of the wrong kind. */
  hint(path: Path): string | undefined;
}

export type SourceOutcome =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly errors: readonly Problem[] };

/** Lists of a definition hold at most so many items altogether. */
const JSON_ITEMS = 50_000;

/** A definition that came as JSON: copied, since it is somebody else's, and checked like a YAML one. */
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
    // A key without a value counts as not given, in YAML as in JSON.
    if (item === undefined || (item === null && !isFreeForm(path))) continue;
    copied[key] = copy(item, [...path, key], walk);
  }
  return copied;
}
