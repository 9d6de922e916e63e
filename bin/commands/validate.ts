import { dirname } from "node:path";
import { type Command, CommandFailure, JSON_FLAG, UsageError } from "../command.ts";
import { printable } from "../connection.ts";
import { readText } from "../flags.ts";
import { parseBeside, workflowFiles } from "../workflow-files.ts";

interface Verdict {
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

/** `weft validate`: what is wrong with workflow files. Needs no server. */
export const validate: Command = {
  name: "validate",
  summary: "Says what is wrong with workflow files, by line and column",
  usage: "<file.yaml | folder>... [--strict] [--json]",
  flags: {
    strict: { type: "boolean", summary: "Keys that nothing reads are errors" },
    json: JSON_FLAG,
  },
  examples: [
    ["weft validate hello.yaml", "needs no server; errors as FILE:LINE:COLUMN"],
    ["weft validate --strict workflows/", "every file below a folder, unknown keys too"],
    ["cat hello.yaml | weft validate - --json", "standard input, for scripts"],
  ],
  exits: [
    ["0", "all are valid, perhaps with warnings"],
    ["1", "one is not, or cannot be read"],
  ],
  run: async (args, terminal) => {
    if (args.positionals.length === 0) throw new UsageError("validate takes one file or more.");
    // Loaded only here: what reads YAML takes longer than all else of a command.
    const { parseDefinition } = await import("../../lib/workflows/schema/parse.ts");
    const { lintDefinition } = await import("../../lib/workflows/uploads/lint.ts");
    const verdicts = workflowFiles(args.positionals).map((file): Verdict => {
      const folder = file === "-" ? "." : dirname(file);
      const parsed = parseBeside(parseDefinition, readText(file), folder, args.flags.strict === true);
      const { definition } = parsed;
      const lint = definition === undefined ? [] : lintDefinition(definition);
      const warnings = [...parsed.warnings, ...lint];
      if (!parsed.ok) return { file, valid: false, name: "", kind: "", errors: parsed.errors, warnings };
      const { name, kind } = parsed.definition;
      return { file, valid: true, name, kind, errors: [], warnings };
    });
    const wrong = verdicts.filter(({ valid }) => !valid).length;
    if (args.flags.json === true)
      terminal.out(`${JSON.stringify({ valid: wrong === 0, files: verdicts })}\n`);
    else for (const verdict of verdicts) terminal.out(textOf(verdict));
    if (wrong > 0)
      throw new CommandFailure(
        `${wrong} of ${verdicts.length} files ${wrong === 1 ? "is" : "are"} not valid.`,
      );
  },
};

function textOf({ file, valid, name, kind, errors, warnings }: Verdict): string {
  const lines = errors.map(({ message, path, line, column }) => {
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    return `${place}: ${path === undefined ? "" : `${path}: `}${printable(message)}`;
  });
  lines.push(...warnings.map((warning) => `${file}: warning: ${printable(warning)}`));
  if (valid) lines.push(`${file}: valid ${kind} ${name}`);
  return lines.map((line) => `${line}\n`).join("");
}
