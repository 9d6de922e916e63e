import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { dataOf, type Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { type Connection, connect, incompleteResponse } from "../connection.ts";
import { CommandFailure } from "../errors.ts";
import { readPlainText } from "../files.ts";
import {
  addPageOptions,
  addServerOptions,
  choice,
  listQuery,
  queryOf,
  type ServerOptions,
} from "../options.ts";
import { printList, printResponse } from "../responses.ts";
import { type Column, formatTime } from "../table.ts";
import { printable, terminal } from "../terminal.ts";

const FILTERS = ["workspace", "assetType", "source", "statusCode", "search"] as const;
/** Less than the server's limit for a request body. */
const CHUNK_BYTES_MAX = 1024 * 1024;
const IMPORT_TIMEOUT_MS = 120_000;
const EXPORT_TIMEOUT_MS = 600_000;

const COLUMNS: readonly Column<Schemas["Asset"]>[] = [
  { header: "ASSET", value: ({ asset_value }) => asset_value, canShrink: true },
  { header: "TYPE", value: ({ asset_type }) => asset_type },
  { header: "WORKSPACE", value: ({ workspace }) => workspace, canShrink: true },
  { header: "SOURCE", value: ({ source }) => source, canShrink: true },
  { header: "CODE", value: ({ status_code }) => String(status_code ?? ""), align: "right" },
  { header: "TITLE", value: ({ title }) => String(title ?? ""), canShrink: true },
  { header: "SEEN", value: ({ last_seen_at }) => formatTime(last_seen_at), canShrink: true },
];

export const assets = addServerOptions(
  new WeftCommand("assets")
    .description("List, import and export assets")
    .option("-w, --workspace <name>", "Assets of this workspace; import: the workspace to import into")
    .option("--source <name>", "Assets from this source; import: the source to record"),
)
  .example("weft assets --workspace example.com --search login", "searches values, URLs and titles")
  .example("httpx -l hosts.txt -json | weft assets import - -w example.com", "imports from another tool")
  .example("weft assets export -w example.com -o assets.csv", "writes a CSV file");

const addFilterOptions = (command: WeftCommand): WeftCommand =>
  command
    .option("--asset-type <type>", "Assets of this type")
    .option("--status-code <code>", "Assets with this HTTP status code")
    .option("--search <text>", "Assets whose value, URL, title or address contains the text");

addPageOptions(
  addFilterOptions(assets.defaultCommand("list").description("List assets, newest first")),
).action((_options, command: WeftCommand) => {
  const options = command.optsWithGlobals<ServerOptions>();
  return printList(COLUMNS, options, (api) =>
    api.GET("/automation/assets", { params: { query: listQuery<object>(options, FILTERS) } }),
  );
});

assets
  .command("import <file...>")
  .description("Import JSONL of httpx or nuclei, other JSONL, or plain lists; - reads standard input")
  .addOption(
    choice("--format <format>", "Format of the lines (default: detected)", [
      "httpx",
      "nuclei",
      "jsonl",
      "plain",
    ]),
  )
  .action(async (paths: string[], _options, command: WeftCommand) => {
    const options = command.optsWithGlobals<ServerOptions>();
    const connection = connect(options, { timeoutMs: IMPORT_TIMEOUT_MS });
    for (const path of paths) await importFile(connection, path, options);
  });

addFilterOptions(assets.command("export").description("Export all assets that match the filters as CSV"))
  .option("-o, --out <file>", "File to write (default: standard output)")
  .action((_options, command: WeftCommand) => exportCsv(command.optsWithGlobals()));

type ImportResult = Schemas["ImportAnswer"];

async function importFile({ api }: Connection, path: string, options: ServerOptions): Promise<void> {
  const request = {
    params: { query: queryOf<object>(options, ["workspace", "format", "source"]) },
    headers: { "content-type": "text/plain" },
    bodySerializer: (text: unknown) => text as string,
  };
  let total: ImportResult | undefined;
  let linesBefore = 0;
  for (const chunk of splitAtLines(readPlainText(path))) {
    const result = await dataOf(api.POST("/automation/assets/import", { ...request, body: chunk }));
    const errors = result.errors.map((error) => ({ ...error, line: error.line + linesBefore }));
    total = total === undefined ? { ...result, errors } : add(total, { ...result, errors });
    linesBefore += chunk.split("\n").length - 1;
  }
  if (total === undefined) throw new CommandFailure(`${path === "-" ? "Standard input" : path} is empty.`);
  const { assets: counts, vulnerabilities, skipped, errors } = total;
  const summary = `${path}: ${counts.discovered} new, ${counts.updated} changed, ${counts.unchanged} unchanged, ${skipped} lines skipped\n`;
  const found = vulnerabilities.found + vulnerabilities.known;
  const details = found === 0 ? "" : `  vulnerabilities: ${vulnerabilities.found} new of ${found}\n`;
  printResponse(total, summary + details, options);
  for (const { line, message } of errors) terminal.error(`${path}:${line}: ${printable(message)}\n`);
}

const add = (a: ImportResult, b: ImportResult): ImportResult => ({
  ...a,
  lines: a.lines + b.lines,
  assets: {
    discovered: a.assets.discovered + b.assets.discovered,
    updated: a.assets.updated + b.assets.updated,
    unchanged: a.assets.unchanged + b.assets.unchanged,
  },
  vulnerabilities: {
    found: a.vulnerabilities.found + b.vulnerabilities.found,
    known: a.vulnerabilities.known + b.vulnerabilities.known,
  },
  skipped: a.skipped + b.skipped,
  errors: [...a.errors, ...b.errors],
});

/** Splits a text at line breaks into chunks; a longer line is a chunk of its own. */
function* splitAtLines(text: string): Generator<string> {
  let lines: string[] = [];
  let size = 0;
  for (const line of text.split("\n")) {
    const lineSize = Buffer.byteLength(line) + 1;
    if (size + lineSize > CHUNK_BYTES_MAX && lines.length > 0) {
      yield `${lines.join("\n")}\n`;
      lines = [];
      size = 0;
    }
    lines.push(line);
    size += lineSize;
  }
  const rest = lines.join("\n");
  if (rest.trim() !== "") yield rest;
}

async function exportCsv(options: ServerOptions & { readonly out?: string }): Promise<void> {
  const connection = connect(options, { timeoutMs: EXPORT_TIMEOUT_MS });
  const query = new URLSearchParams(queryOf<Record<string, string>>(options, FILTERS));
  const response = await connection.open(`/automation/assets/export?${query}`, { accept: "text/csv" });
  if (response.body === null) return;
  const content = Readable.fromWeb(response.body);
  const { out: file } = options;
  if (file === undefined) {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of content) terminal.out(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch {
      throw incompleteResponse(connection.url);
    }
    terminal.out(decoder.decode());
    return;
  }
  await pipeline(content, createWriteStream(file)).catch((error: NodeJS.ErrnoException) => {
    // fetch reports an incomplete body as a TypeError.
    if (error instanceof TypeError) throw incompleteResponse(connection.url);
    throw new CommandFailure(`${file} cannot be written (${error.code ?? error.message}).`);
  });
}
