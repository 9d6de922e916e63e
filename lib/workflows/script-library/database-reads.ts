/** Functions that read records: assets, vulnerabilities and runs of a workspace. Reference 3, database. */

import { textOf } from "./argument-values.ts";
import { callHost, type Row } from "./call-host.ts";
import { writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { tableOf } from "./markdown-tables.ts";

const group = "database";

/** Columns of tables; JSON lines contain all fields. */
const ASSET_COLUMNS = ["asset_value", "asset_type", "status_code", "title", "source", "last_seen_at"];
const VULNERABILITY_COLUMNS = ["severity", "vuln_title", "asset_value", "vuln_info", "last_seen_at"];
const RUN_COLUMNS = ["run_uuid", "workflow_name", "target", "status", "completed_steps", "total_steps"];

/** Throws ScriptError for an invalid query; other errors return the function's failure value. */
function read(context: FunctionContext, query: Row): readonly Row[] {
  const { records, total } = callHost(context, "records", query);
  if (total > records.length) context.log("warn", `the newest ${records.length} of ${total} records`);
  return records;
}

function shown(rows: readonly Row[], columns: readonly string[], format: unknown): string {
  const wanted = textOf(format).trim().toLowerCase();
  if (wanted === "jsonl") return rows.map((row) => JSON.stringify(row)).join("\n");
  if (wanted === "json") return JSON.stringify(rows);
  if (wanted !== "" && wanted !== "md" && wanted !== "markdown")
    throw new Error("the format must be md, jsonl or json");
  const cells = rows.map((row) => columns.map((name) => row[name] ?? ""));
  return [...tableOf(columns, cells)].join("\n");
}

const FORMATS = "as a table (md) or as jsonl or json";
const WORKSPACE = "a workspace (by default the run's)";

/** The records of a workspace that match the filters after it. */
function select(
  of: "assets" | "vulnerabilities" | "runs",
  columns: readonly string[],
  summary: string,
  filters: readonly string[] = [],
): LibraryFunction {
  return {
    group,
    params: ["workspace", ...filters, "format?"],
    returns: "string",
    summary: `${summary}, ${FORMATS}`,
    failure: "",
    run: ([workspace, ...given], context: FunctionContext) => {
      const named = Object.fromEntries(filters.map((name, at) => [name, textOf(given[at])]));
      const rows = read(context, { of, workspace: textOf(workspace), ...named });
      return shown(rows, columns, given[filters.length]);
    },
  };
}

function totalOf(name: string, what: string): LibraryFunction {
  return {
    group,
    params: [],
    returns: "number",
    summary: `Number of ${what} of the run's workspace, as in GET /workspaces`,
    failure: 0,
    run: (_args, context: FunctionContext) => Number(read(context, { of: "totals" })[0]?.[name] ?? 0),
  };
}

type DiffOf = "asset diff" | "vulnerability diff";

const diffLines = (context: FunctionContext, of: DiffOf, workspace: unknown): string[] =>
  read(context, { of, workspace: textOf(workspace) }).map((row) => JSON.stringify(row));

function diff(of: DiffOf, what: string): LibraryFunction {
  return {
    group,
    params: ["workspace"],
    returns: "string",
    summary: `Changes of a workspace's ${what} since the run started: JSON lines whose change is added, removed or changed`,
    failure: "",
    run: ([workspace], context: FunctionContext) => diffLines(context, of, workspace).join("\n"),
  };
}

function diffToFile(of: DiffOf, what: string): LibraryFunction {
  return {
    group,
    params: ["workspace", "dest"],
    returns: "boolean",
    summary: `Writes the changes of a workspace's ${what} since the run started to a file, as JSON lines`,
    failure: false,
    run: ([workspace, dest], context: FunctionContext) => {
      writeLines(
        dest,
        lazily(() => diffLines(context, of, workspace)),
        context,
      );
      return true;
    },
  };
}

/** Checks the path before any record is read. */
function* lazily(lines: () => Iterable<string>): Generator<string> {
  yield* lines();
}

export const databaseReadFunctions = {
  db_select_assets: select("assets", ASSET_COLUMNS, `The assets of ${WORKSPACE}, newest first`),
  db_select_assets_filtered: select(
    "assets",
    ASSET_COLUMNS,
    "Same with a status code and a type; an empty text matches any",
    ["status_code", "asset_type"],
  ),
  db_select_vulnerabilities: select(
    "vulnerabilities",
    VULNERABILITY_COLUMNS,
    `The vulnerabilities of ${WORKSPACE}, newest first`,
  ),
  db_select_vulnerabilities_filtered: select(
    "vulnerabilities",
    VULNERABILITY_COLUMNS,
    "Same with a severity and a substring of the asset's value; an empty text matches any",
    ["severity", "asset_value"],
  ),
  db_select_total_subdomains: totalOf("total_subdomains", "subdomains"),
  db_select_total_urls: totalOf("total_urls", "URLs"),
  db_select_total_assets: totalOf("total_assets", "assets"),
  db_select_total_vulns: totalOf("total_vulns", "vulnerabilities"),
  db_select_vuln_critical: totalOf("vuln_critical", "critical vulnerabilities"),
  db_select_vuln_high: totalOf("vuln_high", "vulnerabilities of severity high"),
  db_select_vuln_medium: totalOf("vuln_medium", "vulnerabilities of severity medium"),
  db_select_vuln_low: totalOf("vuln_low", "vulnerabilities of severity low"),
  db_asset_diff: diff("asset diff", "assets"),
  db_asset_diff_to_file: diffToFile("asset diff", "assets"),
  db_vuln_diff: diff("vulnerability diff", "vulnerabilities"),
  db_vuln_diff_to_file: diffToFile("vulnerability diff", "vulnerabilities"),
  run_status: select("runs", RUN_COLUMNS, `The runs of ${WORKSPACE}, newest first`),
  run_status_by_uuid: {
    group,
    params: ["uuid", "format?"],
    returns: "string",
    summary: `A run by its id, ${FORMATS}; no row if it does not exist`,
    failure: "",
    run: ([uuid, format], context: FunctionContext) =>
      shown(textOf(uuid) === "" ? [] : read(context, { of: "run", run: textOf(uuid) }), RUN_COLUMNS, format),
  },
  runtime_export: {
    group,
    params: [],
    returns: "boolean",
    summary: "Writes the state of the run to run-state.json in its workspace",
    failure: false,
    run: (_args, context: FunctionContext) => {
      const state = lazily(() => [
        JSON.stringify(
          { run: read(context, { of: "run" })[0], workspace: read(context, { of: "totals" })[0] ?? null },
          null,
          2,
        ),
      ]);
      writeLines("run-state.json", state, context);
      return true;
    },
  },
} satisfies Record<string, LibraryFunction>;
