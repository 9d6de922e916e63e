import { fileURLToPath } from "node:url";
import { WeftCommand } from "../command.ts";
import { resolveDataDir } from "../connection.ts";
import { CommandFailure } from "../errors.ts";
import { dataDirOption, jsonOption } from "../options.ts";
import { printResponse } from "../responses.ts";
import { terminal } from "../terminal.ts";

const TEMPLATE_PATH = fileURLToPath(new URL("../../template.yaml", import.meta.url));

interface DoctorOptions {
  readonly aws?: boolean;
  readonly dataDir?: string;
  readonly json?: boolean;
}

export const doctor = new WeftCommand("doctor")
  .description("Check this machine, or with --aws, whether Weft's measured usage fits the limits of AWS")
  .option("--aws", "Compare the limits of AWS with the highest values measured on the data folder")
  .addOption(dataDirOption())
  .addOption(jsonOption())
  .example("weft doctor", "checks the machine, the data folder and its server")
  .example("weft doctor --aws", "after using Weft: checks whether everything fits the limits of AWS")
  .example("weft doctor --aws --json | jq .faults", "for scripts: a line for each exceeded limit")
  .example("rm .weft/limits.json", "resets the measured values, while the server is stopped")
  .exits("1", "a check failed, or a limit is exceeded")
  .action(async (options: DoctorOptions) => {
    const dataDir = resolveDataDir(terminal.env, options.dataDir);
    await (options.aws === true ? checkLimits : checkThisMachine)(dataDir, options);
  });

async function checkLimits(dataDir: string, options: DoctorOptions): Promise<void> {
  // Imported here because parsing the templates is slow.
  const { awsReport } = await import("./doctor-aws.ts");
  const { formatAwsReport } = await import("./doctor-report.ts");
  const report = awsReport({ dataDir, templatePath: TEMPLATE_PATH });
  printResponse(report, formatAwsReport(report), options);
  if (report.note !== null) terminal.error(`${report.note}\n`);
  const { length } = report.faults;
  if (length > 0)
    throw new CommandFailure(`${length} ${length === 1 ? "limit" : "limits"} of AWS would be exceeded.`);
}

async function checkThisMachine(dataDir: string, options: DoctorOptions): Promise<void> {
  const { checkMachine } = await import("./doctor-machine.ts");
  const { formatChecks } = await import("./doctor-report.ts");
  const checks = await checkMachine(terminal.env, dataDir);
  printResponse({ checks }, formatChecks(checks), options);
  const failed = checks.filter(({ level }) => level === "fail").length;
  if (failed > 0) throw new CommandFailure(`${failed} of ${checks.length} checks failed.`);
}
