import { jsonLog } from "../../lib/platform/json-log.ts";
import { PRODUCT_VERSION } from "../../lib/platform/product-version.ts";
import { planUpgrade, type UpgradePlan } from "../../lib/upgrades/plan.ts";
import { releaseOf, UpgradeRefused } from "../../lib/upgrades/releases.ts";
import { withActions } from "../actions.ts";
import { type Arguments, CommandFailure, JSON_FLAG, textFlag, UsageError } from "../command.ts";

/** `weft upgrade`: the way from one release to another, and the data of a deployed stack. */
export const upgrade = withActions({
  name: "upgrade",
  summary: "Says which releases an upgrade leads through, or migrates the data of a stack",
  actions: {
    plan: {
      takes: "",
      summary: "The releases to start one after the other; each migrates the stored data as it starts",
      run: async (_words, args, terminal) => {
        const plan = readPlan(args);
        terminal.out(args.flags.json === true ? `${JSON.stringify(plan)}\n` : planText(plan));
      },
    },
    stack: {
      takes: "",
      summary:
        "Migrates the stored data of a stack in AWS to this version's release, before its functions are deployed",
      run: async (_words, args, terminal) => {
        const stack = textFlag(args, "stack") ?? (terminal.env["WEFT_STACK"] || "weft");
        // Loaded only here: the other commands start without it.
        const { upgradeStack } = await import("../../lib/app/cli.ts");
        const log = jsonLog({ write: (line) => terminal.error(line), level: "info" });
        const release = await upgradeStack({ stack, environment: terminal.env, log }).catch(
          (error: unknown) => {
            throw new CommandFailure(`${error instanceof Error ? error.message : String(error)}.`);
          },
        );
        terminal.out(`The data of the stack ${stack} is of release ${release}.\n`);
      },
    },
  },
  flags: {
    from: {
      type: "string",
      value: "RELEASE",
      summary: "The release that is there, such as 4.8.6",
      of: ["plan"],
    },
    to: {
      type: "string",
      value: "RELEASE",
      summary: "The one that is wanted; this version's where it is not given",
      of: ["plan"],
    },
    stack: {
      type: "string",
      value: "NAME",
      summary: "The stack whose data is migrated (WEFT_STACK, weft); WEFT_BLOBS_BUCKET names its bucket",
      of: ["stack"],
    },
    json: { ...JSON_FLAG, of: ["plan"] },
  },
  examples: [
    ["weft upgrade plan --from 2.1.4 --to 5.0.0", "every step between"],
    ["weft upgrade plan --from 4.8.6 --json", "to this version's, for scripts"],
    ["weft upgrade stack --stack weft", "of a stack in AWS, with this shell's credentials"],
  ],
});

function readPlan(args: Arguments): UpgradePlan {
  const from = textFlag(args, "from");
  if (from === undefined) throw new UsageError("upgrade plan takes --from, the release that is there.");
  try {
    return planUpgrade(from, textFlag(args, "to") ?? releaseOf(PRODUCT_VERSION));
  } catch (error) {
    if (error instanceof UpgradeRefused) throw new CommandFailure(`${error.message}.`);
    throw error;
  }
}

function planText({ from, to, steps }: UpgradePlan): string {
  if (steps.length === 0) return `${from} is there already.\n`;
  const width = Math.max(...steps.map(({ release }) => release.length));
  const releases = steps.length === 1 ? "one release" : `${steps.length} releases, one after the other`;
  const lines = steps.flatMap(({ release, asks }) =>
    asks.length === 0
      ? [`  ${release}`]
      : asks.map((ask, at) => `  ${(at === 0 ? release : "").padEnd(width)}  - ${ask}`),
  );
  return [
    `From ${from} to ${to}: ${releases}. Copy the stored data first.`,
    "Start each once, in this order: it migrates the data as it starts. Any fix release of it will do.",
    "",
    ...lines,
    "",
  ].join("\n");
}
