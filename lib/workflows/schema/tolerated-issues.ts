import type * as z from "zod";
import { formatPath, type Path } from "./problems.ts";

/** The kind of map at a path, which decides its known keys. */
type Place = "workflow" | "step" | "module" | "trigger" | "action" | "other";

const NOT_CARRIED_OUT: Readonly<Record<Place, ReadonlySet<string>>> = {
  workflow: new Set(),
  step: new Set(["host_output_file", "step_remote_file", "step_runner", "step_runner_config", "stream"]),
  module: new Set(["decision", "runner", "runner_config"]),
  trigger: new Set(),
  action: new Set(["export"]),
  other: new Set(),
};

/** Explanatory keys; ignoring them changes no run. */
const EXPLANATIONS: Readonly<Partial<Record<Place, ReadonlySet<string>>>> = {
  workflow: new Set(["help"]),
  step: new Set(["suppress_details"]),
  module: new Set(["description"]),
};

const LISTS: Readonly<Record<string, Place>> = {
  steps: "step",
  parallel_steps: "step",
  modules: "module",
  triggers: "trigger",
  pre_scan_steps: "step",
  post_scan_steps: "step",
  on_success: "action",
  on_error: "action",
};

/** The warning for an unknown key; undefined if none is needed. */
function warnOfKey(path: Path, key: string): string | undefined {
  const place = placeOf(path);
  if (EXPLANATIONS[place]?.has(key)) return undefined;
  return NOT_CARRIED_OUT[place].has(key) ? "is not supported yet, ignored" : "unknown key, ignored";
}

function placeOf(path: Path): Place {
  const last = path.at(-1);
  if (last === undefined) return "workflow";
  if (last === "step") return "step";
  const around = path.at(-2);
  return typeof last === "number" && typeof around === "string" ? (LISTS[around] ?? "other") : "other";
}

type Warn = (path: Path, message: string) => void;

/**
 * Removes what the reference ignores from a written workflow: unknown keys, and keys with an empty value. Names nested
 * steps that have no name.
 */
export class ToleratedIssues {
  readonly #value: unknown;
  readonly #warnOfKey: Warn;
  readonly #warn: Warn;
  /** Keys removed because their value was empty, by formatted path. */
  readonly #emptied = new Map<string, Path>();

  constructor(value: unknown, warnOfUnknownKey: Warn, warn: Warn) {
    this.#value = value;
    this.#warnOfKey = warnOfUnknownKey;
    this.#warn = warn;
  }

  /** Returns whether it changed the workflow, which must then be validated again. */
  apply(issues: readonly z.core.$ZodIssue[]): boolean {
    return issues.map((issue) => this.#applyOne(issue)).includes(true);
  }

  #applyOne(issue: z.core.$ZodIssue): boolean {
    const path = toPath(issue.path);
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => this.#dropUnknownKey(path, key)).includes(true);
    const key = path.at(-1);
    if (typeof key !== "string") return false;
    const holder = valueAt(this.#value, path.slice(0, -1));
    if (typeof holder !== "object" || holder === null) return false;
    const written: unknown = Reflect.get(holder, key);
    if (written === undefined) return key === "name" && this.#nameNestedStep(path, holder);
    if (!isEmpty(written)) return false;
    this.#emptied.set(formatPath(path), path);
    return Reflect.deleteProperty(holder, key);
  }

  #dropUnknownKey(path: Path, key: string): boolean {
    const warning = warnOfKey(path, key);
    if (warning !== undefined) this.#warnOfKey([...path, key], warning);
    return Reflect.deleteProperty(Object(valueAt(this.#value, path)), key);
  }

  #nameNestedStep(path: Path, step: object): boolean {
    const last = path.at(-2);
    const isInList = typeof last === "number" && path.at(-3) === "parallel_steps";
    if (last !== "step" && !isInList) return false;
    const parent = Object(valueAt(this.#value, path.slice(0, isInList ? -3 : -2)));
    const parentName: unknown = Reflect.get(parent, "name");
    if (typeof parentName !== "string") return false;
    const name = `${parentName}-${isInList ? Number(last) + 1 : "item"}`;
    this.#warn(path, `is missing: the step is called ${name}`);
    return Reflect.set(step, "name", name);
  }

  /** The message of a remaining issue: a required key whose value was empty is reported as empty, not missing. */
  messageAt(path: Path, message: string): string {
    return this.#emptied.delete(formatPath(path)) ? "must not be empty" : message;
  }

  /** Warns of the keys with an empty value that were not required. */
  warnOfEmptyKeys(): void {
    for (const path of this.#emptied.values()) this.#warn(path, "is empty, ignored");
  }
}

const isEmpty = (value: unknown): boolean =>
  (typeof value === "string" && value.trim() === "") || (Array.isArray(value) && value.length === 0);

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((around, part) => Object(around)[part], value);
}

export function toPath(path: readonly PropertyKey[]): Path {
  return path.map((part) => (typeof part === "number" ? part : String(part)));
}
