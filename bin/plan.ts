import { type Arguments, CommandFailure, type Terminal } from "./command.ts";
import { type Connection, printable, textOf } from "./connection.ts";
import { coloured } from "./table.ts";

/** What a dry run answers. */
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

/** Asks what a run would do, and prints that. Throws CommandFailure where the server cannot say: it would run it. */
export async function printPlan(
  connection: Connection,
  body: Readonly<Record<string, unknown>>,
  args: Arguments,
  terminal: Terminal,
): Promise<void> {
  const document = await connection.open("GET", "/openapi.json");
  if (!(await textOf(document, connection.url)).includes('"dry_run"'))
    throw new CommandFailure("This server knows no dry runs.", "Nothing was started.");
  const asked = { ...body, dry_run: true };
  const plan = (await connection.request("POST", "/automation/runs", { body: asked })) as Plan;
  if (args.flags.json === true) {
    terminal.out(`${JSON.stringify(plan)}\n`);
    return;
  }
  terminal.out(
    `${[plan.workflow, plan.target, `workspace ${plan.workspace}`]
      .map(printable)
      .filter((word) => word !== "")
      .join("  ")}\n`,
  );
  for (const step of plan.steps) terminal.out(planText(step));
  terminal.out("Nothing was executed.\n");
}

function planText({ order, module, name, type, depth, will, reason, commands }: PlannedStep): string {
  const indent = "  ".repeat(depth + 1);
  const what = will === "run" ? "" : `  ${will === "skip" ? "skipped" : "it depends"}`;
  const why = reason === "" ? "" : `: ${printable(reason)}`;
  const line = `${indent}${order}. ${printable(module === "" ? name : `${module}/${name}`)}  ${type}${what}${why}`;
  const below = commands.flatMap((command) => command.trimEnd().split("\n"));
  return [
    will === "skip" ? coloured("gray", line) : line,
    ...below.map((each) => `${indent}   ${each.replace(/\p{C}/gu, " ")}`),
    "",
  ].join("\n");
}
