import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { withActions } from "../actions.ts";
import { type Arguments, CommandFailure, type Terminal, textFlag } from "../command.ts";
import { brokenOff, type Connection, connect, printable, SERVER_FLAGS } from "../connection.ts";
import { PAGE_FLAGS, queryOf, readPlainText } from "../flags.ts";
import { printAnswer, printList } from "../pages.ts";
import { type Column, moment } from "../table.ts";

const ASSETS = "/automation/assets";
const FILTERS = ["workspace", "asset-type", "source", "status-code", "search"] as const;
/** Below what the server takes at once, bytes. */
const PART_BYTES = 1024 * 1024;
const IMPORT_MS = 120_000;
const EXPORT_MS = 600_000;

interface AssetRecord {
  readonly asset_value: string;
  readonly asset_type: string;
  readonly workspace: string;
  readonly source: string;
  readonly status_code?: number;
  readonly title?: string;
  readonly last_seen_at: string;
}

const COLUMNS: readonly Column<AssetRecord>[] = [
  { head: "ASSET", text: ({ asset_value }) => asset_value, cut: true },
  { head: "TYPE", text: ({ asset_type }) => asset_type },
  { head: "WORKSPACE", text: ({ workspace }) => workspace, cut: true },
  { head: "SOURCE", text: ({ source }) => source, cut: true },
  { head: "CODE", text: ({ status_code }) => String(status_code ?? ""), right: true },
  { head: "TITLE", text: ({ title = "" }) => title, cut: true },
  { head: "SEEN", text: ({ last_seen_at }) => moment(last_seen_at), cut: true },
];

/** `weft assets`: what runs have found. */
export const assets = withActions({
  name: "assets",
  summary: "Lists, imports and exports assets",
  actions: {
    list: {
      takes: "",
      summary: "Assets, newest first",
      run: (_words, args, terminal) =>
        printList<AssetRecord>(
          connect(args, terminal),
          { path: ASSETS, filters: FILTERS, columns: COLUMNS },
          args,
          terminal,
        ),
    },
    import: {
      takes: "<file>...",
      summary: "Takes in JSONL of httpx or nuclei, other JSONL, or plain lists",
      run: async (paths, args, terminal) => {
        const connection = connect(args, terminal);
        for (const path of paths) await importFile(connection, path, args, terminal);
      },
    },
    export: {
      takes: "",
      summary: "All that fit the filters, as CSV",
      run: (_words, args, terminal) => exportCsv(connect(args, terminal), args, terminal),
    },
  },
  flags: {
    workspace: { type: "string", short: "w", value: "NAME", summary: "Of one workspace; that of an import" },
    "asset-type": { type: "string", value: "TYPE", summary: "of one type", of: ["list", "export"] },
    source: { type: "string", value: "NAME", summary: "Of one source; that of an import" },
    "status-code": { type: "string", value: "CODE", summary: "of one status code", of: ["list", "export"] },
    search: {
      type: "string",
      value: "TEXT",
      summary: "part of value, url, title or address",
      of: ["list", "export"],
    },
    ...PAGE_FLAGS,
    format: {
      type: "string",
      value: "FORMAT",
      summary: "of the lines, where they do not tell",
      choices: ["httpx", "nuclei", "jsonl", "plain"],
      of: ["import"],
    },
    out: { type: "string", short: "o", value: "FILE", summary: "instead of standard output", of: ["export"] },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft assets --workspace example.com --search login", "those with it in value, url or title"],
    ["httpx -l hosts.txt -json | weft assets import - -w example.com", "from another tool"],
    ["weft assets export -w example.com -o assets.csv", "as CSV"],
  ],
});

interface Imported {
  readonly lines: number;
  readonly assets: { readonly discovered: number; readonly updated: number; readonly unchanged: number };
  readonly vulnerabilities: { readonly found: number; readonly known: number };
  readonly skipped: number;
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

async function importFile(
  connection: Connection,
  path: string,
  args: Arguments,
  terminal: Terminal,
): Promise<void> {
  const query = queryOf(args, ["workspace", "format", "source"]);
  let sum: Imported | undefined;
  let before = 0;
  for (const part of partsOf(readPlainText(path))) {
    const options = { body: part, type: "text/plain", timeoutMs: IMPORT_MS };
    const answer = (await connection.request("POST", `${ASSETS}/import${query}`, options)) as Imported;
    const errors = answer.errors.map((one) => ({ ...one, line: one.line + before }));
    sum = sum === undefined ? { ...answer, errors } : added(sum, { ...answer, errors });
    before += part.split("\n").length - 1;
  }
  if (sum === undefined) throw new CommandFailure(`There is nothing in ${path}.`);
  const { assets: found, vulnerabilities, skipped } = sum;
  const text = `${path}: ${found.discovered} new, ${found.updated} changed, ${found.unchanged} as they were, ${skipped} lines skipped\n`;
  const flaws = vulnerabilities.found + vulnerabilities.known;
  const more = flaws === 0 ? "" : `  vulnerabilities: ${vulnerabilities.found} new of ${flaws}\n`;
  printAnswer(sum, text + more, args, terminal);
  for (const { line, message } of sum.errors) terminal.error(`${path}:${line}: ${printable(message)}\n`);
}

const added = (a: Imported, b: Imported): Imported => ({
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

/** A text in parts of whole lines; a line that is longer than a part is one of its own. */
function* partsOf(text: string): Generator<string> {
  let part: string[] = [];
  let bytes = 0;
  for (const line of text.split("\n")) {
    const own = Buffer.byteLength(line) + 1;
    if (bytes + own > PART_BYTES && part.length > 0) {
      yield `${part.join("\n")}\n`;
      part = [];
      bytes = 0;
    }
    part.push(line);
    bytes += own;
  }
  const rest = part.join("\n");
  if (rest.trim() !== "") yield rest;
}

async function exportCsv(connection: Connection, args: Arguments, terminal: Terminal): Promise<void> {
  const path = `${ASSETS}/export${queryOf(args, FILTERS)}`;
  const response = await connection.open("GET", path, { accept: "text/csv", timeoutMs: EXPORT_MS });
  const file = textFlag(args, "out");
  if (response.body === null) return;
  const content = Readable.fromWeb(response.body);
  if (file === undefined) {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of content) terminal.out(decoder.decode(chunk as Uint8Array, { stream: true }));
    } catch {
      throw brokenOff(connection.url);
    }
    terminal.out(decoder.decode());
    return;
  }
  await pipeline(content, createWriteStream(file)).catch((error: NodeJS.ErrnoException) => {
    // So fetch says it of a body that does not come to its end.
    if (error instanceof TypeError) throw brokenOff(connection.url);
    throw new CommandFailure(`${file} cannot be written (${error.code ?? error.message}).`);
  });
}
