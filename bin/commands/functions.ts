import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { readText } from "../files.ts";
import { addServerOptions, type Params, paramOption, queryString, type ServerOptions } from "../options.ts";
import { printResponse, unexpectedResponse } from "../responses.ts";
import { type Column, table } from "../table.ts";
import { printable, terminal } from "../terminal.ts";

const FUNCTIONS = "/automation/functions";

interface FunctionRecord {
  readonly signature: string;
  readonly description: string;
  readonly tags: readonly string[];
}

const COLUMNS: readonly Column<FunctionRecord>[] = [
  { header: "FUNCTION", value: ({ signature }) => signature, canShrink: true },
  { header: "GROUP", value: ({ tags }) => tags.join(", ") },
  { header: "DESCRIPTION", value: ({ description }) => description, canShrink: true },
];

export const functions = addServerOptions(new WeftCommand("functions"))
  .description("List the functions of scripts, or evaluate a script")
  .example("weft functions --search base64", "functions whose name or description contains base64")
  .example(`weft functions eval 'trim("  {{target}} ")' -t example.com`, "prints example.com");

functions
  .defaultCommand("list")
  .description("List functions by group")
  .option("--group <name>", "Functions of this group")
  .option("--search <text>", "Functions whose name or description contains the text")
  .action((_options, command: WeftCommand) => list(command.optsWithGlobals()));

functions
  .command("eval <script>")
  .description("Evaluate a script outside of a run; - reads it from standard input")
  .option("-t, --target <target>", "Value of {{target}}")
  .addOption(paramOption("Value of {{KEY}}"))
  .action((script: string, _options, command: WeftCommand) => evaluate(script, command.optsWithGlobals()));

async function list(options: ServerOptions): Promise<void> {
  const path = `${FUNCTIONS}${queryString(options, ["group", "search"])}`;
  const response = (await connect(options).request("GET", path)) as {
    functions?: readonly FunctionRecord[];
  };
  if (!Array.isArray(response?.functions)) throw unexpectedResponse("a list");
  const rows = response.functions as readonly FunctionRecord[];
  printResponse(response, rows.length === 0 ? "" : table(COLUMNS, rows, terminal.width), options);
}

interface EvalOptions extends ServerOptions {
  readonly target?: string;
  readonly param?: Params;
}

async function evaluate(scriptOrDash: string, options: EvalOptions): Promise<void> {
  const script = scriptOrDash === "-" ? readText("-") : scriptOrDash;
  const body = { script, params: options.param ?? {}, target: options.target };
  const response = (await connect(options).request("POST", `${FUNCTIONS}/eval`, { body })) as {
    readonly result: unknown;
    readonly logs?: readonly { readonly level: string; readonly message: string }[];
  };
  const { result, logs = [] } = response;
  for (const { level, message } of logs) terminal.error(`${level}: ${printable(message)}\n`);
  const text = typeof result === "string" ? result : (JSON.stringify(result, null, 2) ?? "undefined");
  printResponse(response, `${text}\n`, options);
}
