import { dirname } from "node:path";

/**
 * Workspaces are in a different folder on each machine that shares them. In values sent between machines, this name
 * replaces the folder of all workspaces.
 */
export const SHARED_WORKSPACES_DIR = "/weft/workspaces";
/**
 * The same for the base folder. Values of a run contain this name from the start; local paths are never converted back
 * to it.
 */
export const SHARED_BASE_DIR = "/weft/base";

/** Replaces this machine's workspace paths in a value by the shared name. */
export function toShared<Value>(value: Value, workspacesDir: string): Value {
  return replaced(value, workspacesDir, SHARED_WORKSPACES_DIR);
}

/** Replaces the shared names in a value by this machine's folders. */
export function toLocal<Value>(value: Value, workspacesDir: string): Value {
  const local = replaced(value, SHARED_WORKSPACES_DIR, workspacesDir);
  return replaced(local, SHARED_BASE_DIR, dirname(workspacesDir));
}

function replaced<Value>(value: Value, from: string, to: string): Value {
  if (typeof value === "string") return replacedText(value, from, to) as Value;
  if (typeof value !== "object" || value === null) return value;
  const json = JSON.stringify(value);
  if (!json.includes(quoted(from))) return value;
  return JSON.parse(replacedText(json, quoted(from), quoted(to))) as Value;
}

/** Replaces a folder's path, but not as the prefix of a longer name. */
function replacedText(text: string, from: string, to: string): string {
  let result = "";
  let start = 0;
  for (let at = text.indexOf(from); at >= 0; at = text.indexOf(from, start)) {
    const end = at + from.length;
    result += text.slice(start, at) + (NAME.test(text.charAt(end)) ? from : to);
    start = end;
  }
  return start === 0 ? text : result + text.slice(start);
}

const NAME = /[\w.-]/;
const quoted = (path: string): string => JSON.stringify(path).slice(1, -1);
