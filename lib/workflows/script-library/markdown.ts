import { textOf } from "./argument-values.ts";
import { prepare as prepareCsv } from "./csv.ts";
import { joinLines, readText, writeLines } from "./file-access.ts";
import {
  type EvaluatedPart,
  EvaluatedParts,
  type FunctionContext,
  type LibraryFunction,
} from "./library-types.ts";
import { cellOf, tableOf } from "./markdown-tables.ts";
import { prepare as prepareJqFunctions } from "./query.ts";
import { columnsOf, recordsOf } from "./records.ts";

const group = "markdown";
const REPORT_FILE = "security-report.md";
/** Code blocks marked `osm-func`, code marked `{.osm-func}`, and names in braces. */
const PARTS = /```osm-func\n([\s\S]*?)\n```|`([^`\n]+)`\{\.osm-func\}|\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;
const PARTS_MAX = 1_000;

function* jsonlTable(path: unknown, context: FunctionContext): Generator<string> {
  const names = columnsOf(recordsOf(path, context));
  if (names.length === 0) throw new Error("the file contains no JSON objects");
  const rows = function* (): Generator<readonly unknown[]> {
    for (const record of recordsOf(path, context))
      yield names.map((name) => (Object.hasOwn(record, name) ? record[name] : ""));
  };
  yield* tableOf(names, rows());
}

let sarif: typeof import("./sarif.ts") | undefined;

const prepareSarif = async (): Promise<void> => {
  sarif ??= await import("./sarif.ts");
};

function* sarifReport(text: string): Generator<string> {
  if (sarif === undefined) throw new Error("SARIF is loaded only for scripts that name the function");
  const { readSarif, SEVERITIES } = sarif;
  const { tool, findings } = readSarif(text);
  const counts = SEVERITIES.map((name) => [
    name,
    findings.filter(({ severity }) => severity === name).length,
  ]);
  yield `# SARIF Results — ${cellOf(tool)}`;
  yield "";
  yield `**Total: ${findings.length} findings** | ${counts.map(([name, count]) => `${name}: ${count}`).join(" | ")}`;
  if (findings.length === 0) return;
  yield "";
  yield* tableOf(
    ["Severity", "Location", "Title", "Description"],
    findings.map(({ severity, location, title, description }) => [severity, location, title, description]),
  );
}

/** The readable text of Markdown, without its markup. */
function* plainText(markdown: string): Generator<string> {
  let inCode = false;
  for (const line of markdown.split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) inCode = !inCode;
    else if (inCode) yield `    ${line}`;
    else yield withoutMarks(line);
  }
}

function withoutMarks(line: string): string {
  return line
    .replace(/^#{1,6} +/, "")
    .replace(/^(\s*)[*+-] +/, "$1• ")
    .replace(/^> ?/, "│ ")
    .replaceAll(/!?\[([^\]\n]{0,500})\]\(([^)\s]{0,2000})\)/g, (_, text: string, address: string) =>
      text === address ? text : `${text} (${address})`,
    )
    .replaceAll(/(\*\*|__|~~)(?=\S)([^*_~]{1,500}?)\1/g, "$2")
    .replaceAll(/`([^`]{1,500})`/g, "$1");
}

/** The template with its parts replaced by their values; the error of a part becomes a comment. */
function report(template: unknown, output: unknown, context: FunctionContext): EvaluatedParts {
  const text = readText(template, context);
  const matches = [...text.matchAll(PARTS)];
  if (matches.length > PARTS_MAX) throw new Error(`a report must have at most ${PARTS_MAX} parts`);
  const codes = matches.map(
    ([, block, inline, name]) => block ?? inline ?? `typeof ${name} === "undefined" ? null : ${name}`,
  );
  return new EvaluatedParts(codes, (results) => {
    let filled = "";
    let done = 0;
    for (const [index, match] of matches.entries()) {
      filled += text.slice(done, match.index) + shown(results[index], match[3] === undefined ? "" : match[0]);
      done = match.index + match[0].length;
    }
    writeLines(output, [(filled + text.slice(done)).replace(/\n$/, "")], context);
    return true;
  });
}

/** Loads functions that code in templates may call; which ones is known only when the template is read. */
const prepareReport = async (): Promise<void> => {
  await Promise.all([prepareJqFunctions(), prepareCsv(), prepareSarif()]);
};

/** `otherwise` replaces a name without a value. */
function shown(part: EvaluatedPart | undefined, otherwise: string): string {
  if (part === undefined) return otherwise;
  if ("error" in part) return `<!-- ERROR: ${part.error.replaceAll("--", "- -").slice(0, 500)} -->`;
  return part.value === null ? otherwise : textOf(part.value);
}

export const markdownFunctions = {
  render_markdown_from_file: {
    group,
    params: ["path"],
    returns: "string",
    summary: "A Markdown file of up to 10 MiB as plain text, without its markup",
    failure: "",
    run: ([path], context: FunctionContext) => joinLines(plainText(readText(path, context))),
  },
  print_markdown_from_file: {
    group,
    params: ["path"],
    returns: "string",
    summary: "Writes a Markdown file as plain text to the step's log, and returns it",
    failure: "",
    run: ([path], context: FunctionContext) => {
      const text = joinLines(plainText(readText(path, context)));
      context.log("info", text);
      return text;
    },
  },
  convert_jsonl_to_markdown: {
    group,
    params: ["input", "output"],
    returns: "boolean",
    summary: "Writes JSON lines as a table in Markdown, with a column per field",
    failure: false,
    run: ([input, output], context: FunctionContext) => {
      writeLines(output, jsonlTable(input, context), context);
      return true;
    },
  },
  convert_sarif_to_markdown: {
    group,
    params: ["input", "output"],
    returns: "boolean",
    summary: "Writes the findings of a SARIF file of up to 10 MiB as a table in Markdown, the worst first",
    failure: false,
    prepare: prepareSarif,
    run: ([input, output], context: FunctionContext) => {
      writeLines(output, sarifReport(readText(input, context)), context);
      return true;
    },
  },
  render_markdown_report: {
    group,
    params: ["template", "output"],
    returns: "boolean",
    summary:
      "Writes a report from a template: {{Name}} is a value of the script; a code block osm-func or `code`{.osm-func} is replaced with its result",
    example: 'render_markdown_report("report-template.md", "report.md")',
    failure: false,
    prepare: prepareReport,
    run: ([template, output], context: FunctionContext) => report(template, output, context),
  },
  generate_security_report: {
    group,
    params: ["template"],
    returns: "boolean",
    summary: `Same as render_markdown_report, into ${REPORT_FILE} of the workspace`,
    failure: false,
    prepare: prepareReport,
    run: ([template], context: FunctionContext) => report(template, REPORT_FILE, context),
  },
} satisfies Record<string, LibraryFunction>;
