import { dirname } from "node:path";
import { WeftCommand } from "../command.ts";
import { CommandFailure } from "../errors.ts";
import { readText } from "../files.ts";
import { jsonOption } from "../options.ts";
import { printable, terminal } from "../terminal.ts";
import { listWorkflowFiles, parseWithParent } from "../workflow-files.ts";

interface FileResult {
  readonly file: string;
  readonly valid: boolean;
  readonly name: string;
  readonly kind: string;
  readonly errors: readonly {
    readonly message: string;
    readonly path?: string;
    readonly line?: number;
    readonly column?: number;
  }[];
  readonly warnings: readonly string[];
}

interface ValidateOptions {
  readonly strict?: boolean;
  readonly json?: boolean;
}

export const validate = new WeftCommand("validate")
  .description("Check workflow files and report errors by line and column")
  .argument("<file|folder...>", "YAML files, folders with YAML files, or - for standard input")
  .option("--strict", "Treat unknown keys as errors")
  .addOption(jsonOption())
  .example("weft validate hello.yaml", "works without a server; prints errors as FILE:LINE:COLUMN")
  .example("weft validate --strict workflows/", "checks all files below a folder, and unknown keys")
  .example("cat hello.yaml | weft validate - --json", "reads standard input, for scripts")
  .exits("0", "all files are valid, possibly with warnings")
  .exits("1", "a file is not valid or cannot be read")
  .action(validateFiles);

async function validateFiles(paths: readonly string[], options: ValidateOptions): Promise<void> {
  // Imported here because the YAML parser is slow to load.
  const { parseDefinition } = await import("../../lib/workflows/schema/parse.ts");
  const { lintDefinition } = await import("../../lib/workflows/uploads/lint.ts");
  const results = listWorkflowFiles(paths).map((file): FileResult => {
    const folder = file === "-" ? "." : dirname(file);
    const parsed = parseWithParent(parseDefinition, readText(file), folder, options.strict === true);
    const lint = parsed.definition === undefined ? [] : lintDefinition(parsed.definition);
    const warnings = [...parsed.warnings, ...lint];
    if (!parsed.ok) return { file, valid: false, name: "", kind: "", errors: parsed.errors, warnings };
    const { name, kind } = parsed.definition;
    return { file, valid: true, name, kind, errors: [], warnings };
  });
  const invalid = results.filter(({ valid }) => !valid).length;
  if (options.json === true) terminal.out(`${JSON.stringify({ valid: invalid === 0, files: results })}\n`);
  else for (const result of results) terminal.out(formatResult(result));
  if (invalid > 0)
    throw new CommandFailure(
      `${invalid} of ${results.length} files ${invalid === 1 ? "is" : "are"} not valid.`,
    );
}

function formatResult({ file, valid, name, kind, errors, warnings }: FileResult): string {
  const lines = errors.map(({ message, path, line, column }) => {
    const location = line === undefined ? file : `${file}:${line}:${column}`;
    return `${location}: ${path === undefined ? "" : `${path}: `}${printable(message)}`;
  });
  lines.push(...warnings.map((warning) => `${file}: warning: ${printable(warning)}`));
  if (valid) lines.push(`${file}: valid ${kind} ${name}`);
  return lines.map((line) => `${line}\n`).join("");
}
