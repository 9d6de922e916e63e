import { withActions } from "../actions.ts";
import { CommandFailure, textFlag } from "../command.ts";
import { connect, printable, SERVER_FLAGS } from "../connection.ts";
import { PARAM_FLAG, paramFlags, queryOf, readText } from "../flags.ts";
import { printAnswer } from "../pages.ts";
import { type Column, table } from "../table.ts";

const FUNCTIONS = "/automation/functions";

interface FunctionRecord {
  readonly signature: string;
  readonly description: string;
  readonly tags: readonly string[];
}

const COLUMNS: readonly Column<FunctionRecord>[] = [
  { head: "FUNCTION", text: ({ signature }) => signature, cut: true },
  { head: "GROUP", text: ({ tags }) => tags.join(", ") },
  { head: "WHAT IT DOES", text: ({ description }) => description, cut: true },
];

interface Evaluated {
  readonly result: unknown;
  readonly logs?: readonly { readonly level: string; readonly message: string }[];
}

/** `weft functions`: what scripts may call. */
export const functions = withActions({
  name: "functions",
  summary: "Lists the functions of scripts, and evaluates a script",
  actions: {
    list: {
      takes: "",
      summary: "Functions by group",
      run: async (_words, args, terminal) => {
        const path = `${FUNCTIONS}${queryOf(args, ["group", "search"])}`;
        const answer = (await connect(args, terminal).request("GET", path)) as {
          functions?: readonly FunctionRecord[];
        };
        if (!Array.isArray(answer?.functions)) throw new CommandFailure("The server's answer is no list.");
        const found = answer.functions as readonly FunctionRecord[];
        const text = found.length === 0 ? "" : table(COLUMNS, found, terminal.width);
        printAnswer(answer, text, args, terminal);
      },
    },
    eval: {
      takes: "<script>",
      summary: "The value of a script, outside of any run; - reads it from standard input",
      run: async ([given = ""], args, terminal) => {
        const script = given === "-" ? readText("-") : given;
        const target = textFlag(args, "target");
        const body = { script, params: paramFlags(args), ...(target === undefined ? {} : { target }) };
        const answer = (await connect(args, terminal).request("POST", `${FUNCTIONS}/eval`, {
          body,
        })) as Evaluated;
        const { result } = answer;
        const text = typeof result === "string" ? result : (JSON.stringify(result, null, 2) ?? "undefined");
        for (const { level, message } of answer.logs ?? [])
          terminal.error(`${level}: ${printable(message)}\n`);
        printAnswer(answer, `${text}\n`, args, terminal);
      },
    },
  },
  flags: {
    group: { type: "string", value: "NAME", summary: "of one group", of: ["list"] },
    search: { type: "string", value: "TEXT", summary: "part of name or description", of: ["list"] },
    target: { type: "string", short: "t", value: "TARGET", summary: "value of {{target}}", of: ["eval"] },
    param: { ...PARAM_FLAG, summary: "value of {{KEY}}", of: ["eval"] },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft functions --search base64", "those with it in name or description"],
    [`weft functions eval 'trim("  {{target}} ")' -t example.com`, "prints example.com"],
  ],
});
