import { dataOf, type Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { connect } from "../connection.ts";
import { readText } from "../files.ts";
import {
  addServerOptions,
  givenFields,
  type Params,
  paramOption,
  queryOf,
  type ServerOptions,
} from "../options.ts";
import { printResponse, unexpectedResponse } from "../responses.ts";
import { type Column, table } from "../table.ts";
import { printable, terminal } from "../terminal.ts";

const COLUMNS: readonly Column<Schemas["Function"]>[] = [
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
  const query = queryOf<object>(options, ["group", "search"]);
  const response = await dataOf(connect(options).api.GET("/automation/functions", { params: { query } }));
  const rows = response?.functions;
  if (!Array.isArray(rows)) throw unexpectedResponse("a list");
  printResponse(response, rows.length === 0 ? "" : table(COLUMNS, rows, terminal.width), options);
}

interface EvalOptions extends ServerOptions {
  readonly target?: string;
  readonly param?: Params;
}

async function evaluate(scriptOrDash: string, options: EvalOptions): Promise<void> {
  const script = scriptOrDash === "-" ? readText("-") : scriptOrDash;
  const body = givenFields({ script, params: options.param ?? {}, target: options.target });
  const response = await dataOf(connect(options).api.POST("/automation/functions/eval", { body }));
  const { result, logs = [] } = response;
  for (const { level, message } of logs) terminal.error(`${level}: ${printable(message)}\n`);
  const text = typeof result === "string" ? result : (JSON.stringify(result, null, 2) ?? "undefined");
  printResponse(response, `${text}\n`, options);
}
