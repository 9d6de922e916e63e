import { dirname } from "node:path";

/**
 * Workspaces lie in another folder on every machine that shares them. In values that travel, the folder of
 * all workspaces has one name.
 */
export const SHARED_WORKSPACES_DIR = "/weft/workspaces";
/** The same for the base folder. Values of a run begin with this name, and no machine's own folder is turned back into it. */
export const SHARED_BASE_DIR = "/weft/base";

/** A value as it travels: paths of this machine's workspaces by the shared name. */
export function toShared<Value>(value: Value, workspacesDir: string): Value {
  return replaced(value, workspacesDir, SHARED_WORKSPACES_DIR);
}

/** A value as it is used here: the shared names stand for this machine's folders. */
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

/** Only where the folder's name ends there. */
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
