import type { UpgradePlan } from "../../lib/upgrades/plan.ts";
import { WeftCommand } from "../command.ts";
import { CommandFailure, messageOf } from "../errors.ts";
import { jsonOption } from "../options.ts";
import { printResponse } from "../responses.ts";
import { terminal } from "../terminal.ts";

export const upgrade = new WeftCommand("upgrade")
  .description("Show the releases of an upgrade, or migrate the data of a stack")
  .example("weft upgrade plan --from 2.1.4 --to 5.0.0", "lists every release between them")
  .example("weft upgrade plan --from 4.8.6 --json", "to this version's release, for scripts")
  .example("weft upgrade stack --stack weft", "for a stack in AWS, with this shell's credentials");

interface PlanOptions {
  readonly from: string;
  readonly to?: string;
  readonly json?: boolean;
}

upgrade
  .defaultCommand("plan")
  .description("List the releases to start one after the other; each migrates the stored data when it starts")
  .requiredOption("--from <release>", "Release of the stored data, such as 4.8.6")
  .option("--to <release>", "Release to upgrade to (default: this version's)")
  .addOption(jsonOption())
  .action(async (options: PlanOptions) => {
    const plan = await planOf(options);
    printResponse(plan, planText(plan), options);
  });

upgrade
  .command("stack")
  .description(
    "Migrate the stored data of a stack in AWS to this version's release, before deploying its functions",
  )
  .option("--stack <name>", "Stack (default: WEFT_STACK, else weft); WEFT_BLOBS_BUCKET names its bucket")
  .action(async (options: { readonly stack?: string }) => {
    const stack = options.stack ?? (terminal.env.WEFT_STACK || "weft");
    // Imported here because the other commands do not need it.
    const [{ jsonLog }, { upgradeStack }] = await Promise.all([
      import("../../lib/platform/json-log.ts"),
      import("../../lib/app/cli.ts"),
    ]);
    const log = jsonLog({ write: (line) => terminal.error(line), level: "info" });
    const release = await upgradeStack({ stack, environment: terminal.env, log }).catch((error: unknown) => {
      throw new CommandFailure(`${messageOf(error)}.`);
    });
    terminal.out(`The data of the stack ${stack} has been migrated to release ${release}.\n`);
  });

async function planOf({ from, to }: PlanOptions): Promise<UpgradePlan> {
  const [{ PRODUCT_VERSION }, { planUpgrade }, { releaseOf, UpgradeError }] = await Promise.all([
    import("../../lib/product-version.ts"),
    import("../../lib/upgrades/plan.ts"),
    import("../../lib/upgrades/releases.ts"),
  ]);
  try {
    return planUpgrade(from, to ?? releaseOf(PRODUCT_VERSION));
  } catch (error) {
    if (error instanceof UpgradeError) throw new CommandFailure(`${error.message}.`);
    throw error;
  }
}

function planText({ from, to, steps }: UpgradePlan): string {
  if (steps.length === 0) return `The data already has release ${from}.\n`;
  const width = Math.max(...steps.map(({ release }) => release.length));
  const releases = steps.length === 1 ? "one release" : `${steps.length} releases, one after the other`;
  const lines = steps.flatMap(({ release, asks }) =>
    asks.length === 0
      ? [`  ${release}`]
      : asks.map((ask, at) => `  ${(at === 0 ? release : "").padEnd(width)}  - ${ask}`),
  );
  return [
    `From ${from} to ${to}: ${releases}. Back up the stored data first.`,
    "Start each release once, in this order: it migrates the data when it starts. Any patch version of it will do.",
    "",
    ...lines,
    "",
  ].join("\n");
}
