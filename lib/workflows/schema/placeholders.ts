import { variableName } from "../expressions/variable-names.ts";
import type { Path } from "./problems.ts";
import { variableName as paramName, stepName } from "./schema-values.ts";
import { valueAt } from "./tolerated-issues.ts";

const STEP_LISTS: ReadonlySet<unknown> = new Set([
  "steps",
  "parallel_steps",
  "pre_scan_steps",
  "post_scan_steps",
]);

const ENTRY_LISTS: ReadonlySet<unknown> = new Set(["modules", "triggers", "params", "reports"]);

/** Names that steps of these types export automatically. */
const AUTOMATIC_EXPORTS = ["status_code", "body", "headers", "http_resp", "llm_resp", "content"];

/**
 * Replaces the invalid part of a workflow at a path with a valid one of the same name, so that references in the rest
 * can be checked. Returns the removed key if no placeholder of that name is possible.
 */
export function replaceWithPlaceholder(value: unknown, path: Path): string | undefined {
  for (let at = path.length - 1; at >= 0; at -= 1) {
    const part = path[at];
    const list = path[at - 1];
    const isStep = part === "step" || (typeof part === "number" && STEP_LISTS.has(list));
    if (!isStep && !(typeof part === "number" && ENTRY_LISTS.has(list))) continue;
    if (path[0] === "override" && at < 2) break;
    const holder = Object(valueAt(value, path.slice(0, at)));
    const written = Object(Reflect.get(holder, part));
    const standIn = isStep ? stepLike(written, path) : entryLike(String(list), written, path);
    Reflect.set(holder, part, standIn);
    return undefined;
  }
  const [key] = path;
  if (typeof key !== "string") return undefined;
  Reflect.deleteProperty(Object(value), key);
  return key;
}

function stepLike(written: object, path: Path): object {
  const name = nameOf(written, path);
  const exports = Object.keys(Object(Reflect.get(written, "exports")));
  const automatic = AUTOMATIC_EXPORTS.map((what) => `${variableName(name)}_${what}`);
  const known = [...exports.filter((key) => paramName.safeParse(key).success), ...automatic].slice(0, 64);
  return { name, type: "bash", command: "true", exports: Object.fromEntries(known.map((key) => [key, ""])) };
}

function entryLike(list: string, written: object, path: Path): object {
  const name = nameOf(written, path, list === "params" ? paramName : stepName);
  if (list === "modules") return { name, path: "module" };
  if (list === "triggers") return { type: "manual" };
  return list === "reports" ? { path: "report" } : { name };
}

/** The name as written; a unique one if it is invalid. */
function nameOf(written: object, path: Path, schema: typeof stepName = stepName): string {
  const name: unknown = Reflect.get(written, "name");
  const isValid = typeof name === "string" && schema.safeParse(name).success;
  return isValid ? name : `invalid-${path.join("-").replaceAll(/[^A-Za-z0-9-]/g, "")}`.slice(0, 100);
}
