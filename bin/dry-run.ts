import { dataOf } from "../client/api.ts";
import type { Connection } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { colorize } from "./table.ts";
import { printable, terminal } from "./terminal.ts";
import type { RunRequest } from "./workflow-requests.ts";

interface Plan {
  readonly dry_run?: boolean;
  readonly workflow: string;
  readonly target: string;
  readonly workspace: string;
  readonly steps: readonly PlannedStep[];
}

interface PlannedStep {
  readonly order: number;
  readonly module: string;
  readonly name: string;
  readonly type: string;
  readonly depth: number;
  readonly will: string;
  readonly reason: string;
  readonly commands: readonly string[];
}

/** Prints what a run would do. Throws CommandFailure if the server does not support `dry_run`: it would start the run. */
export async function printDryRun(
  connection: Connection,
  body: RunRequest,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const openapi = await dataOf(connection.api.GET("/openapi.json"));
  if (!JSON.stringify(openapi).includes('"dry_run"'))
    throw new CommandFailure("This server does not support dry runs.", "Nothing was started.");
  const request = { body: { ...body, dry_run: true } };
  const plan = (await dataOf(connection.api.POST("/automation/runs", request))) as unknown as Plan;
  if (json === true) {
    terminal.out(`${JSON.stringify(plan)}\n`);
    return;
  }
  const title = [plan.workflow, plan.target, `workspace ${plan.workspace}`].map(printable);
  terminal.out(`${title.filter((word) => word !== "").join("  ")}\n`);
  for (const step of plan.steps) terminal.out(formatStep(step));
  terminal.out("Nothing was executed.\n");
}

function formatStep({ order, module, name, type, depth, will, reason, commands }: PlannedStep): string {
  const indent = "  ".repeat(depth + 1);
  const outcome = will === "run" ? "" : `  ${will === "skip" ? "skipped" : "depends"}`;
  const why = reason === "" ? "" : `: ${printable(reason)}`;
  const line = `${indent}${order}. ${printable(module === "" ? name : `${module}/${name}`)}  ${type}${outcome}${why}`;
  const commandLines = commands.flatMap((command) => command.trimEnd().split("\n"));
  return [
    colorize(will === "skip" ? "gray" : undefined, line),
    ...commandLines.map((each) => `${indent}   ${each.replace(/\p{C}/gu, " ")}`),
    "",
  ].join("\n");
}
