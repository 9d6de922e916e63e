import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { stepsTable } from "../bench/harness/steps-table.ts";
import { program } from "../bin/program.ts";
import type { Setting } from "../lib/settings/setting-types.ts";
import { settings } from "../lib/settings/settings.ts";
import { describedByRows, functionEntries, functionRows } from "../lib/workflows/script-library/entries.ts";
import { functions } from "../lib/workflows/script-library/library.ts";
import { FOLDER_ORDER } from "./checks/import-rules.ts";
import { commandGuide, exitCodeTable } from "./command-guide.ts";
import { type LockFile, lockedPackages, packagesByLicense } from "./licenses.ts";
import { type PeerResult, peersTable } from "./peers-table.ts";
import { parameterOf } from "./template/step-settings.ts";
import { resourcesJson } from "./template-resources.ts";
import { OPENAPI_FILE } from "./write.ts";

const SETTINGS_FILE = "docs/settings.md";
const ENDPOINTS_FILE = "docs/endpoints.md";
const ARCHITECTURE_FILE = "ARCHITECTURE.md";
const PERFORMANCE_FILE = "docs/performance.md";
const FUNCTIONS_FILE = "docs/functions.md";
const FUNCTIONS_JSON_FILE = "lib/workflows/evaluation/functions.json";
const TEMPLATE_FILE = "template.yaml";
const RESOURCES_JSON_FILE = "lib/workflows/overview/resources.json";
const COMMANDS_FILE = "docs/cli.md";
const LICENSES_FILE = "docs/licenses.md";
const LOCK_FILE = "package-lock.json";
const BENCH_FILE = "bench/README.md";
const BENCH_RESULTS_FILE = "bench/results.json";
const PEER_RESULTS_FILE = "bench/peers/results.json";

/** The part of an OpenAPI document that `docs/endpoints.md` shows. */
export interface Endpoints {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary?: string;
  /** An empty list where no token is needed. */
  readonly security?: readonly unknown[];
}

/** A row for each setting: its name, default, meaning, and the parameter of the template that sets it for functions. */
export function settingsTable(): string {
  const rows = Object.entries<Setting>(settings).map(([name, setting]) => [
    `\`${name}\``,
    setting.documentedDefault ?? (setting.default ? `\`${setting.default}\`` : ""),
    setting.isSecret
      ? `${setting.description}. ${name}_FILE may name a file that contains it`
      : setting.description,
    code(parameterOf(name) ?? ""),
  ]);
  return table(["Setting", "Default", "Meaning", "In Lambda"], rows);
}

/** Every endpoint by its path, as the document has them. */
export function endpointsTable({ paths }: Endpoints): string {
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary = "", security }]) => [
      `\`${method.toUpperCase()} ${path}\``,
      security?.length === 0 ? `${summary} (no token)` : summary,
    ]),
  );
  return table(["Endpoint", "What it does"], rows);
}

/** The functions of scripts, a table a group; what is not available has one line a group. */
export function functionsTables(): string {
  const entries = functionEntries(describedByRows(functionRows(functions)));
  const groups = Map.groupBy(
    entries.filter(({ available }) => available),
    ({ tags: [group = ""] }) => group,
  );
  const tables = [...groups].map(([group, own]) => {
    const rows = own.map(({ signature, return_type, description, example }) => [
      `\`${signature}\``,
      return_type,
      description,
      `\`${example}\``,
    ]);
    return `### ${group}\n\n${table(["Function", "Returns", "What it does", "Example"], rows)}`;
  });
  const missing = entries.filter(({ available }) => !available).map(({ name }) => `\`${name}\``);
  return `${tables.join("\n\n")}\n\n### Not available\n\nA call of these functions fails with an error that names an alternative: ${missing.join(", ")}.`;
}

/** What `GET /functions` tells of the functions: that process does not load the library. */
export function functionsJson(): string {
  const rows = functionRows(functions).map((row) => JSON.stringify(row));
  return `[\n${rows.join(",\n")}\n]\n`;
}

/** The packages by license with their versions, except those of development tools. */
export function licensesTable(lock: LockFile): string {
  const shipped = lockedPackages(lock).filter(({ isDev }) => !isDev);
  const rows = packagesByLicense(shipped).map(([license, packages]) => [
    license,
    `${packages.length}`,
    packages.join(", "),
  ]);
  return table(["License", "Packages", "Names and versions"], rows);
}

/** A benchmark's result as far as it is shown. */
export interface BenchResult {
  readonly name: string;
  readonly what: string;
  readonly peer: string;
  readonly baseline: Readonly<Record<string, number>>;
  readonly figures: readonly BenchFigure[];
  readonly busy_cores: number;
  /** ISO 8601. */
  readonly at: string;
  readonly node: string;
}

interface BenchFigure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: number;
  readonly met?: boolean;
  readonly peer?: string;
}

/** What was measured, a row a figure; what was measured in the same run and the peer stand in a benchmark's first. */
export function benchTable(results: readonly BenchResult[]): string {
  const rows = results.flatMap(({ what, peer, baseline, figures, busy_cores, at, node }) =>
    figures.map((figure, index) => {
      const bare = Object.entries(baseline).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
      const [day = ""] = at.split("T");
      const once =
        index === 0
          ? [bare.join(", "), peer, `${day}, ${busy_cores} cores busy before, ${node}`]
          : ["", figure.peer ?? "", ""];
      const title = index === 0 ? `**${what}**: ${figure.what}` : figure.what;
      return [title, `${figure.value} ${figure.unit}`.trim(), targetOf(figure), ...once];
    }),
  );
  return table(["What", "Measured", "Target", "Baseline, same run", "Peer", "When"], rows);
}

/** The figure that each benchmark is about. */
export function figuresTable(results: readonly BenchResult[]): string {
  const rows = results.map(({ what, figures: [figure] }) => {
    const { what: part = "", value = 0, unit = "", target, met } = figure ?? {};
    const wanted = target === undefined ? "" : `${target} ${unit}${met === true ? "" : ", **not met**"}`;
    return [what, `${part}: ${value} ${unit}`.trim(), wanted];
  });
  return table(["What", "Measured", "Target"], rows);
}

/** Figures called `path: what`, a row a path and a column a what. */
export function countsTable(results: readonly BenchResult[]): string {
  const cells = results
    .flatMap(({ figures }) => figures)
    .map(({ what, value }) => [...what.split(": "), `${value}`] as const);
  const columns = [...new Set(cells.map(([, column = ""]) => column))];
  const rows = Map.groupBy(cells, ([path = ""]) => path);
  return table(
    ["Per unit", ...columns],
    [...rows].map(([path, own]) => [
      path,
      ...columns.map((column) => own.find(([, one]) => one === column)?.[2] ?? ""),
    ]),
  );
}

function targetOf({ target, unit, met }: BenchFigure): string {
  if (target === undefined) return "";
  return `${met ? "met" : "**not met**"}: ${target} ${unit}`;
}

/** The text with what stands between `<!-- name -->` and `<!-- /name -->` replaced. Throws where a marker is missing. */
export function replaceParts(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((before, [name, part]) => {
    const open = `<!-- ${name} -->`;
    const start = before.indexOf(open);
    const end = before.indexOf(`<!-- /${name} -->`, start);
    if (start === -1 || end === -1) throw new Error(`<!-- ${name} --> … <!-- /${name} --> is missing`);
    return `${before.slice(0, start + open.length)}\n\n${part}\n\n${before.slice(end)}`;
  }, text);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The folder order of each service, lowest folder first. */
function folderOrder(): string {
  return Object.entries(FOLDER_ORDER)
    .map(
      ([service, names]) => `\`${service}\`, lowest first: ${names.map((name) => `\`${name}\``).join(", ")}.`,
    )
    .join("\n\n");
}

/** A value as code; words are left as they are. */
function code(text: string): string {
  return text === "" || text.includes(" ") ? text : `\`${text}\``;
}

/** A written file, from the root, as it stands and as it should be. */
export interface Page {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The pages of the tree at `root` that have parts written from code. */
export async function pages(root: string): Promise<Page[]> {
  const document = JSON.parse(await readFile(join(root, OPENAPI_FILE), "utf8")) as Endpoints;
  const results = JSON.parse(await readFile(join(root, BENCH_RESULTS_FILE), "utf8")) as BenchResult[];
  const peers = JSON.parse(await readFile(join(root, PEER_RESULTS_FILE), "utf8")) as PeerResult[];
  const lock = JSON.parse(await readFile(join(root, LOCK_FILE), "utf8")) as LockFile;
  const counts = results.filter(({ name }) => name === "counts");
  const timed = results.filter((result) => !counts.includes(result));
  const parts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    [SETTINGS_FILE]: { settings: settingsTable() },
    [ENDPOINTS_FILE]: { endpoints: endpointsTable(document) },
    [ARCHITECTURE_FILE]: { folders: folderOrder() },
    [PERFORMANCE_FILE]: { figures: figuresTable(timed), steps: stepsTable(timed), peers: peersTable(peers) },
    [FUNCTIONS_FILE]: { functions: functionsTables() },
    [COMMANDS_FILE]: { commands: commandGuide(program), exits: exitCodeTable(program) },
    [LICENSES_FILE]: { packages: licensesTable(lock) },
    [BENCH_FILE]: { bench: benchTable(timed), counts: countsTable(counts) },
  };
  const written = await Promise.all(
    Object.entries(parts).map(async ([path, own]) => {
      const before = await readFile(join(root, path), "utf8");
      return { path, before, after: replaceParts(before, own) };
    }),
  );
  const listed = await readFile(join(root, FUNCTIONS_JSON_FILE), "utf8");
  const overview = await readFile(join(root, RESOURCES_JSON_FILE), "utf8").catch(() => "");
  return [
    ...written,
    { path: FUNCTIONS_JSON_FILE, before: listed, after: functionsJson() },
    { path: RESOURCES_JSON_FILE, before: overview, after: resourcesJson(join(root, TEMPLATE_FILE)) },
  ];
}

/** Exit code: 0 where all is as it should be, 1 where it is not. */
async function main(root: string, check: boolean): Promise<number> {
  const stale = (await pages(root)).filter(({ before, after }) => before !== after);
  const names = stale.map(({ path }) => path).join(", ");
  if (stale.length === 0) return 0;
  if (check) {
    console.error(`outdated tables: ${names}. Run: node infra/readme.ts`);
    return 1;
  }
  for (const { path, after } of stale) await writeFile(join(root, path), after);
  console.log(`written: ${names}`);
  return 0;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  process.exitCode = await main(fileURLToPath(new URL("..", import.meta.url)), values.check);
}
