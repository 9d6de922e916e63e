import { lstatSync } from "node:fs";
import { relative } from "node:path";
import { isInsidePath } from "../artifacts/artifact-paths.ts";
import { ARTIFACT_TYPES } from "../artifacts/table.ts";
import type { Reported } from "../workspaces/workspace-records.ts";
import { textOf } from "./argument-values.ts";
import { databaseAssetFunctions } from "./database-assets.ts";
import { databaseReadFunctions } from "./database-reads.ts";
import { databaseVulnerabilityFunctions } from "./database-vulnerabilities.ts";
import { databaseWriteFunctions } from "./database-writes.ts";
import { linesOf, pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { emitRecordEvent, unavailableFunction } from "./record-events.ts";

const group = "database";

/** Adds the number of lines of a file to a counter of the run's workspace. Reference 3, database. */
function total(counter: Reported): LibraryFunction {
  return {
    group,
    params: ["path"],
    returns: "number",
    summary: `Adds the number of non-blank lines of a file to the workspace's total_${counter}; returns that number`,
    failure: 0,
    run: ([path], context: FunctionContext) => {
      let add = 0;
      for (const line of linesOf(path, context)) if (line.trim() !== "") add += 1;
      if (add > 0)
        emitRecordEvent(context, { effect: "totals", workspace: "", source: "", data: { counter, add } });
      return add;
    },
  };
}

/** Lines of larger files are not counted. Bytes. */
const COUNTED_BYTES = 64 * 1024 * 1024;

function register(context: FunctionContext, path: unknown, type: unknown): boolean {
  const file = pathOf(path, context);
  const artifact_path = relative(context.cwd, file).replaceAll("\\", "/");
  if (!isInsidePath(artifact_path)) throw new Error(`${textOf(path)} is not in the workspace`);
  const artifact_type = textOf(type) === "" ? "output" : textOf(type);
  if (!ARTIFACT_TYPES.some((known) => known === artifact_type))
    throw new Error(`the type must be one of ${ARTIFACT_TYPES.join(", ")}`);
  const info = lstatSync(file, { throwIfNoEntry: false });
  const isFile = info?.isFile() === true;
  let line_count = 0;
  if (isFile && info.size <= COUNTED_BYTES) for (const _line of linesOf(file, context)) line_count += 1;
  const data = {
    artifact_path,
    artifact_type,
    line_count,
    size_bytes: isFile ? info.size : 0,
    is_folder: info?.isDirectory() === true,
  };
  emitRecordEvent(context, { effect: "artifact", workspace: "", source: "", data });
  return true;
}

const NO_SQL = "there is no SQL database; use db_select_assets_filtered and similar functions, or the API";

export const databaseFunctions = {
  ...databaseAssetFunctions,
  ...databaseVulnerabilityFunctions,
  ...databaseReadFunctions,
  ...databaseWriteFunctions,
  db_total_urls: total("urls"),
  db_total_subdomains: total("subdomains"),
  db_total_assets: total("assets"),
  db_total_vulns: total("vulns"),
  db_total_ips: total("ips"),
  db_total_links: total("links"),
  db_total_content: total("content"),
  db_total_archive: total("archive"),
  register_artifact: {
    group,
    params: ["path", "type?"],
    returns: "boolean",
    summary:
      "Registers a file of the workspace as an artifact: report, state_file, output (default) or screenshot",
    failure: false,
    run: ([path, type], context: FunctionContext) => register(context, path, type),
  },
  store_artifact: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Registers a file of the workspace as an artifact",
    failure: false,
    run: ([path], context: FunctionContext) => register(context, path, ""),
  },
  db_select: unavailableFunction("db_select", group, ["sql_query", "format"], NO_SQL),
  db_select_to_file: unavailableFunction("db_select_to_file", group, ["sql_query", "dest"], NO_SQL),
  db_select_to_jsonl: unavailableFunction(
    "db_select_to_jsonl",
    group,
    ["sql_query", "fields", "dest"],
    NO_SQL,
  ),
  db_reset_event_logs: unavailableFunction(
    "db_reset_event_logs",
    group,
    ["workspace?", "topic_pattern?"],
    "an event starts each of its runs only once; emit it again, or run its workflow again",
  ),
} satisfies Record<string, LibraryFunction>;
