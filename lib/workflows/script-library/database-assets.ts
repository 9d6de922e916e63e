import { assetValue } from "../assets/asset-fields.ts";
import { textOf } from "./argument-values.ts";
import { linesOf } from "./file-access.ts";
import { detectFormat, type LineFormat, readFinding } from "./finding-lines.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { emitRecordEvent, objectOf } from "./record-events.ts";

const group = "database";
/** Maximum number of hosts of one file whose records or ports are combined. */
const GROUPED_MAX = 100_000;
const DNS_TYPES = /^(?:A|AAAA|CNAME|MX|NS|TXT|SOA|PTR|SRV|CAA)$/;

export interface ImportCounts {
  total: number;
  imported: number;
  skipped: number;
  assets: number;
  vulnerabilities: number;
}

/** Result of functions that count lines, if the file cannot be read. */
export const NOTHING_IMPORTED = { total: 0, imported: 0, skipped: 0 } as const;

/** Emits an event for each record in a file. Without a format, the first line determines it. */
export function importFile(
  context: FunctionContext,
  options: {
    readonly workspace: unknown;
    readonly path: unknown;
    readonly format?: LineFormat;
    /** Additional fields of each asset. */
    readonly fields?: Readonly<Record<string, unknown>>;
    readonly source?: string;
    readonly take?: "assets" | "vulnerabilities";
  },
): ImportCounts {
  const { path, take, fields = {} } = options;
  const workspace = textOf(options.workspace);
  const counts: ImportCounts = { total: 0, imported: 0, skipped: 0, assets: 0, vulnerabilities: 0 };
  let { format } = options;
  for (const line of linesOf(path, context)) {
    if (line.trim() === "") continue;
    format ??= detectFormat(line);
    const read = readFinding(line, format);
    if (read === undefined) continue;
    counts.total += 1;
    if ("fault" in read) {
      counts.skipped += 1;
      continue;
    }
    counts.imported += 1;
    const source = options.source ?? (format === "plain" || format === "jsonl" ? "" : format);
    if (read.asset !== undefined && take !== "vulnerabilities") {
      emitRecordEvent(context, { effect: "asset", workspace, source, data: { ...read.asset, ...fields } });
      counts.assets += 1;
    }
    if (read.vulnerability !== undefined && take !== "assets") {
      emitRecordEvent(context, { effect: "vulnerability", workspace, source, data: read.vulnerability });
      counts.vulnerabilities += 1;
    }
  }
  return counts;
}

function importOne(
  context: FunctionContext,
  workspace: unknown,
  data: Readonly<Record<string, unknown>>,
): boolean {
  if (assetValue(data) === undefined) throw new Error("no asset field (asset_value, value, url or host)");
  emitRecordEvent(context, { effect: "asset", workspace: textOf(workspace), source: "", data });
  return true;
}

/** Lines of a zone file, or of dnsx: a name, other fields, a type, and the record data. */
function importDns(context: FunctionContext, workspace: unknown, path: unknown): number {
  const hosts = new Map<string, string[]>();
  for (const line of linesOf(path, context)) {
    const parts = line.replaceAll(/[[\]]/g, "").trim().split(/\s+/);
    const at = parts.findIndex((part, index) => index > 0 && DNS_TYPES.test(part));
    const name = (parts[0] ?? "").replace(/\.$/, "");
    if (at < 0 || name === "" || name.startsWith(";") || hosts.size >= GROUPED_MAX) continue;
    const records = hosts.get(name) ?? [];
    records.push(parts.slice(at).join(" "));
    hosts.set(name, records);
  }
  for (const [name, dns_records] of hosts) importOne(context, workspace, { asset_value: name, dns_records });
  return hosts.size;
}

/** JSON lines of ports, as naabu and nmap's conversion write them: one asset per host, with all its ports. */
function importPorts(context: FunctionContext, [workspace, path, source]: readonly unknown[]) {
  const hosts = new Map<string, Set<string>>();
  let [total, skipped] = [0, 0];
  for (const line of linesOf(path, context)) {
    if (line.trim() === "") continue;
    total += 1;
    const found = portOf(line);
    if (found === undefined || (!hosts.has(found.host) && hosts.size >= GROUPED_MAX)) {
      skipped += 1;
      continue;
    }
    const ports = hosts.get(found.host) ?? new Set();
    ports.add(found.port);
    hosts.set(found.host, ports);
  }
  for (const [host, ports] of hosts) {
    const data = { asset_value: host, asset_type: "ip", open_ports: [...ports] };
    emitRecordEvent(context, { effect: "asset", workspace: textOf(workspace), source: textOf(source), data });
  }
  return { total, imported: total - skipped, skipped, assets: hosts.size };
}

function portOf(line: string): { host: string; port: string } | undefined {
  try {
    const { ip, host, port, protocol } = objectOf(line);
    const name = textOf(ip) || textOf(host);
    const number = Number(port);
    if (name === "" || !Number.isInteger(number) || number < 1 || number > 65_535) return undefined;
    return { host: name, port: `${number}/${textOf(protocol) || "tcp"}` };
  } catch {
    return undefined;
  }
}

export const databaseAssetFunctions = {
  db_import_asset: {
    group,
    params: ["workspace", "json"],
    returns: "boolean",
    summary: "Adds or updates an asset: an object or its JSON text, with asset_value, url or host",
    failure: false,
    run: ([workspace, json], context: FunctionContext) => importOne(context, workspace, objectOf(json)),
  },
  db_quick_import_asset: {
    group,
    params: ["workspace", "asset_value", "asset_type?"],
    returns: "boolean",
    summary: "Adds an asset by its value; the type is detected by default",
    failure: false,
    run: ([workspace, value, type], context: FunctionContext) =>
      importOne(context, workspace, { asset_value: textOf(value), asset_type: textOf(type) }),
  },
  db_partial_import_asset: {
    group,
    params: ["workspace", "asset_type", "asset_value"],
    returns: "boolean",
    summary: "Adds an asset by its type and value",
    failure: false,
    run: ([workspace, type, value], context: FunctionContext) =>
      importOne(context, workspace, { asset_value: textOf(value), asset_type: textOf(type) }),
  },
  db_partial_import_asset_file: {
    group,
    params: ["workspace", "asset_type", "file_path"],
    returns: "number",
    summary: "Adds an asset of the type for each line of a file; returns their number",
    failure: 0,
    run: ([workspace, type, path], context: FunctionContext) =>
      importFile(context, { workspace, path, format: "plain", fields: { asset_type: textOf(type) } }).assets,
  },
  db_import_asset_from_file: {
    group,
    params: ["workspace", "file_path"],
    returns: "number",
    summary:
      "Adds the assets of a file: JSONL of httpx or nuclei, other JSONL, or a plain list; returns their number",
    failure: 0,
    run: ([workspace, path], context: FunctionContext) =>
      importFile(context, { workspace, path, take: "assets" }).assets,
  },
  db_import_custom_asset: {
    group,
    params: ["workspace", "file_path", "asset_type?", "source?"],
    returns: "any",
    summary: "Adds the assets of a JSONL file; returns the numbers of total, imported and skipped lines",
    failure: NOTHING_IMPORTED,
    run: ([workspace, path, type, source], context: FunctionContext) => {
      const fields = textOf(type) === "" ? {} : { asset_type: textOf(type) };
      return importFile(context, {
        workspace,
        path,
        format: "jsonl",
        fields,
        source: textOf(source),
        take: "assets",
      });
    },
  },
  db_import_dns_asset: {
    group,
    params: ["workspace", "file_path"],
    returns: "number",
    summary: "Adds the hosts of a file of DNS records, with their records; returns their number",
    failure: 0,
    run: ([workspace, path], context: FunctionContext) => importDns(context, workspace, path),
  },
  db_import_port_assets: {
    group,
    params: ["workspace", "file_path", "source?"],
    returns: "any",
    summary:
      "Adds the hosts of a JSONL file of ports, with their open ports; returns the numbers of total, imported and skipped lines",
    failure: NOTHING_IMPORTED,
    run: (args, context: FunctionContext) => importPorts(context, args),
  },
} satisfies Record<string, LibraryFunction>;
