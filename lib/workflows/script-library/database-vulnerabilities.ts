import { isRecord, textOf } from "./argument-values.ts";
import { importFile, NOTHING_IMPORTED } from "./database-assets.ts";
import { linesOf, readText } from "./file-access.ts";
import { readFinding } from "./finding-lines.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { emitRecordEvent, objectOf } from "./record-events.ts";

const group = "database";
/** Maps SARIF levels to severities. */
const LEVELS: Readonly<Record<string, string>> = {
  error: "high",
  warning: "medium",
  note: "low",
  none: "info",
};

function importVulnerability(context: FunctionContext, workspace: unknown, json: unknown): boolean {
  const found = objectOf(json);
  const read = readFinding(JSON.stringify(found), isRecord(found.info) ? "nuclei" : "jsonl");
  const fromNuclei = read !== undefined && "vulnerability" in read ? read.vulnerability : undefined;
  const data = fromNuclei ?? found;
  if (["vuln_title", "vuln_info", "finding_hash"].every((name) => textOf(data[name]) === ""))
    throw new Error("no finding field");
  const source = fromNuclei === undefined ? "" : "nuclei";
  emitRecordEvent(context, { effect: "vulnerability", workspace: textOf(workspace), source, data });
  return true;
}

const listOf = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
const recordAt = (value: unknown, name: string): Record<string, unknown> => {
  const inner = isRecord(value) ? value[name] : undefined;
  return isRecord(inner) ? inner : {};
};

/** Imports the results of a SARIF file: one vulnerability per rule and location. */
function importSarif(context: FunctionContext, workspace: unknown, path: unknown) {
  const log = objectOf(readText(path, context));
  let total = 0;
  for (const run of listOf(log.runs)) {
    const driver = recordAt(recordAt(run, "tool"), "driver");
    const rules = new Map(listOf(driver.rules).map((rule) => [textOf(rule.id), rule]));
    for (const result of listOf(run.results)) {
      total += 1;
      const rule = rules.get(textOf(result.ruleId));
      const place = recordAt(listOf(result.locations)[0], "physicalLocation");
      const line = textOf(recordAt(place, "region").startLine);
      const file = textOf(recordAt(place, "artifactLocation").uri);
      const message = textOf(recordAt(result, "message").text);
      const level = textOf(result.level) || textOf(recordAt(rule, "defaultConfiguration").level);
      const data = {
        vuln_info: textOf(result.ruleId),
        vuln_title: textOf(recordAt(rule, "shortDescription").text) || message || textOf(result.ruleId),
        vuln_desc: message,
        severity: LEVELS[level] ?? "medium",
        asset_type: "file",
        asset_value: line === "" ? file : `${file}:${line}`,
      };
      const source = textOf(driver.name).toLowerCase();
      emitRecordEvent(context, { effect: "vulnerability", workspace: textOf(workspace), source, data });
    }
  }
  return { total, imported: total, skipped: 0 };
}

function countSeverity(severity: string): LibraryFunction {
  return {
    group,
    params: ["path"],
    returns: "number",
    summary: `Number of findings of a JSONL file with severity ${severity}`,
    failure: 0,
    run: ([path], context: FunctionContext) => {
      let count = 0;
      for (const line of linesOf(path, context)) if (severityOf(line) === severity) count += 1;
      return count;
    },
  };
}

function severityOf(line: string): string {
  try {
    const found = objectOf(line);
    return (textOf(recordAt(found, "info").severity) || textOf(found.severity)).toLowerCase();
  } catch {
    return "";
  }
}

export const databaseVulnerabilityFunctions = {
  db_import_vuln: {
    group,
    params: ["workspace", "json"],
    returns: "boolean",
    summary: "Adds or updates a vulnerability: an object or its JSON text, from nuclei or with vuln_title",
    failure: false,
    run: ([workspace, json], context: FunctionContext) => importVulnerability(context, workspace, json),
  },
  db_import_vuln_from_file: {
    group,
    params: ["workspace", "file_path"],
    returns: "number",
    summary: "Adds the vulnerabilities of a JSONL file of nuclei; returns their number",
    failure: 0,
    run: ([workspace, path], context: FunctionContext) =>
      importFile(context, { workspace, path, format: "nuclei", take: "vulnerabilities" }).vulnerabilities,
  },
  db_import_sarif: {
    group,
    params: ["workspace", "file_path"],
    returns: "any",
    summary: "Adds the results of a SARIF file as vulnerabilities; returns their number as total",
    failure: NOTHING_IMPORTED,
    run: ([workspace, path], context: FunctionContext) => importSarif(context, workspace, path),
  },
  db_import_vigolium: {
    group,
    params: ["workspace", "file_path", "source?"],
    returns: "any",
    summary:
      "Adds the assets and vulnerabilities of a JSONL file; returns the numbers of total, imported and skipped lines",
    failure: NOTHING_IMPORTED,
    run: ([workspace, path, source], context: FunctionContext) => {
      const given = textOf(source) === "" ? {} : { source: textOf(source) };
      return importFile(context, { workspace, path, ...given });
    },
  },
  db_vuln_critical: countSeverity("critical"),
  db_vuln_high: countSeverity("high"),
  db_vuln_medium: countSeverity("medium"),
  db_vuln_low: countSeverity("low"),
} satisfies Record<string, LibraryFunction>;
