import { fileURLToPath } from "node:url";
import {
  type Arguments,
  type Command,
  CommandFailure,
  JSON_FLAG,
  type Terminal,
  textFlag,
  UsageError,
} from "../command.ts";
import { DATA_DIR_FLAG, dataDirOf } from "../connection.ts";

const TEMPLATE_PATH = fileURLToPath(new URL("../../template.yaml", import.meta.url));

/** `weft doctor`: whether Weft can run here, and with `--aws` whether what ran here would run there. */
export const doctor: Command = {
  name: "doctor",
  summary: "Looks whether Weft can run here, or with --aws, whether what ran here would fit into AWS",
  usage: "[--aws] [--data-dir FOLDER] [--json]",
  flags: {
    aws: {
      type: "boolean",
      summary: "Every limit of AWS, and the most that servers of the data folder have come to",
    },
    "data-dir": DATA_DIR_FLAG,
    json: JSON_FLAG,
  },
  examples: [
    ["weft doctor", "this machine, the data folder and its server; exit code 1 where something fails"],
    ["weft doctor --aws", "after some work with Weft; exit code 1 where something would not fit"],
    ["weft doctor --aws --json | jq .faults", "for scripts: what would not fit, one line each"],
    ["rm .weft/limits.json", "forgets what was seen, while the server is stopped"],
  ],
  run: async (args, terminal) => {
    if (args.positionals.length > 0) throw new UsageError(`'${args.positionals[0]}' is one word too many.`);
    const dataDir = dataDirOf(terminal.env, textFlag(args, "data-dir"));
    await (args.flags.aws === true ? examineLimits : examineMachine)(dataDir, args, terminal);
  },
};

async function examineLimits(dataDir: string, args: Arguments, terminal: Terminal): Promise<void> {
  // Loaded only here: reading templates takes longer than all else of a command.
  const { awsReport } = await import("./doctor-aws.ts");
  const { reportText } = await import("./doctor-text.ts");
  const report = awsReport({ dataDir, templatePath: TEMPLATE_PATH });
  terminal.out(args.flags.json === true ? `${JSON.stringify(report)}\n` : reportText(report));
  if (report.note !== null) terminal.error(`${report.note}\n`);
  const { length } = report.faults;
  if (length > 0)
    throw new CommandFailure(`${length} ${length === 1 ? "thing" : "things"} would not fit into AWS.`);
}

async function examineMachine(dataDir: string, args: Arguments, terminal: Terminal): Promise<void> {
  const { checkMachine } = await import("./doctor-machine.ts");
  const { checksText } = await import("./doctor-text.ts");
  const checks = await checkMachine(terminal.env, dataDir);
  terminal.out(args.flags.json === true ? `${JSON.stringify({ checks })}\n` : checksText(checks));
  const failed = checks.filter(({ level }) => level === "fail").length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${checks.length} checks failed.`);
}
