import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Consumer } from "../lib/events/consumer.ts";
import type { Route } from "../lib/http/route.ts";
import type { TableSpec } from "../lib/platform/tables.ts";
import { byCodeUnits } from "./names.ts";
import { findConsumerIssues, findLogicalIdIssues, findRouteIssues, findTableIssues } from "./scan-issues.ts";

/** An endpoint and its file, relative to the root, with forward slashes. */
export interface ScannedRoute {
  readonly entry: string;
  readonly route: Route;
}

/** A consumer and its file. */
export interface ScannedConsumer {
  readonly entry: string;
  readonly consumer: Consumer;
}

/** The source of the template and the OpenAPI document, sorted by file name. */
export interface Scan {
  readonly routes: readonly ScannedRoute[];
  readonly consumers: readonly ScannedConsumer[];
  readonly tables: readonly TableSpec[];
}

/** Issues of the tree, one line each. */
export class ScanError extends Error {
  readonly issues: readonly string[];
  constructor(issues: readonly string[]) {
    super(issues.join("\n"));
    this.name = "ScanError";
    this.issues = issues;
  }
}

const TABLES_FILE = "lib/tables.ts";

const FORMS = [
  { kind: "route", pattern: /^functions\/(?:workflows|documents)\/[^/]+\/[^/]+\.ts$/ },
  { kind: "consumer", pattern: /^functions\/(?:executors|consumers|schedules)\/[^/]+\.ts$/ },
] as const;

/**
 * Imports every file below `functions/` and the tables of `lib/tables.ts`. Throws ScanError with all issues: missing
 * exports, duplicate names or paths, values that AWS rejects.
 */
export async function scanFunctions(root: string): Promise<Scan> {
  const issues: string[] = [];
  const routes: ScannedRoute[] = [];
  const consumers: ScannedConsumer[] = [];
  for (const entry of await entryPoints(root)) {
    const form = FORMS.find(({ pattern }) => pattern.test(entry));
    if (form === undefined) {
      issues.push(
        `${entry}: must be functions/{workflows,documents}/<resource>/<operation>.ts or functions/{executors,schedules}/<name>.ts`,
      );
      continue;
    }
    const exports = await load(root, entry, issues);
    const found = exports?.[form.kind];
    if (exports === undefined) continue;
    if (typeof found !== "object" || found === null || typeof exports.handler !== "function") {
      issues.push(`${entry}: must export \`${form.kind}\` and \`handler\``);
    } else if (form.kind === "route") routes.push({ entry, route: found as Route });
    else consumers.push({ entry, consumer: found as Consumer });
  }
  const tables = await loadTables(root, issues);
  issues.push(...findRouteIssues(routes), ...findConsumerIssues(consumers), ...findTableIssues(tables));
  issues.push(...findLogicalIdIssues(routes, consumers));
  if (issues.length > 0) throw new ScanError(issues);
  return { routes, consumers, tables };
}

async function entryPoints(root: string): Promise<string[]> {
  const folder = join(root, "functions");
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) =>
      join(entry.parentPath, entry.name).slice(root.length).replaceAll("\\", "/").replace(/^\/+/, ""),
    )
    .sort(byCodeUnits);
}

async function load(
  root: string,
  file: string,
  issues: string[],
): Promise<Record<string, unknown> | undefined> {
  try {
    return (await import(pathToFileURL(join(root, file)).href)) as Record<string, unknown>;
  } catch (error) {
    issues.push(`${file}: cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function loadTables(root: string, issues: string[]): Promise<TableSpec[]> {
  const exports = await load(root, TABLES_FILE, issues);
  if (exports === undefined) return [];
  const tables = exports.tables;
  if (typeof tables !== "object" || tables === null) {
    issues.push(`${TABLES_FILE}: must export \`tables\``);
    return [];
  }
  return Object.values(tables as Record<string, TableSpec>).sort((left, right) =>
    byCodeUnits(left.name, right.name),
  );
}
