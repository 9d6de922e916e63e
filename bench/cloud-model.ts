import { PRICES } from "./cloud-model/assumptions.ts";
import { type Costs, dollarsPerMillion, findCeiling, type Trial, tryRate } from "./cloud-model/measure.ts";
import { FIRST_READ, SCENARIOS } from "./cloud-model/scenarios.ts";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";

const BRIEF_RATE = 20;
/** Rate at which the cost of a first read is measured: each document is read once. */
const FIRST_READS = 40;

/** What one of a thousand users does in a month: assumed. */
const MONTH_OF_A_USER: Readonly<Record<string, number>> = {
  [FIRST_READ.name]: 500,
  "document changes": 2_000,
  "runs of three steps": 200,
  events: 5_000,
};

/** What limits a rate: what refused requests, or the queue that grows, or the limit that is used most. */
function limitOf(trial: Trial): string {
  const refusing = trial.usages.toSorted((one, other) => other.refused - one.refused)[0];
  if (refusing !== undefined && refusing.refused > 0) return refusing.name;
  const [growing] = trial.growing;
  if (growing !== undefined) return `queue ${growing}`;
  const [most] = trial.usages;
  return most === undefined ? "nothing" : `${most.name}, ${Math.round((100 * most.used) / most.perSecond)} %`;
}

const printTrial = (trial: Trial): void => {
  const { rate, isSustained } = trial;
  process.stderr.write(`  ${rate}/s ${isSustained ? "sustained" : "not sustained"}: ${limitOf(trial)}\n`);
};

function costFigures(name: string, costs: Costs): Figure[] {
  return [
    { what: `${name}: write units each`, value: costs.writeUnits, unit: "WCU" },
    { what: `${name}: read units each`, value: costs.readUnits, unit: "RCU" },
    { what: `${name}: a million`, value: dollarsPerMillion(costs), unit: "USD" },
  ];
}

await runBenchmark({
  name: "cloud-model",
  what: "Sustained rates on AWS, by the real code over a model of DynamoDB, SQS, EventBridge and Lambda in virtual time",
  peer: "-",
  measure: async ({ brief }) => {
    const figures: Figure[] = [];
    const costs = new Map<string, Costs>();
    const limits: Record<string, string> = {};
    for (const scenario of SCENARIOS) {
      process.stderr.write(`${scenario.name}\n`);
      const { best, worst } = brief
        ? { best: await tryRate(scenario, BRIEF_RATE), worst: undefined }
        : await findCeiling(scenario, scenario.target, printTrial);
      const limit = limitOf(worst ?? (best as Trial));
      limits[scenario.name] = limit;
      const what = `${scenario.name}: sustained, then limited by ${limit}`;
      figures.push({
        what,
        value: best?.rate ?? 0,
        unit: scenario.unit,
        target: scenario.target,
        atLeast: true,
      });
      if (best === undefined) continue;
      costs.set(scenario.name, best.perUnit);
      figures.push(...costFigures(scenario.name, best.perUnit));
    }
    const read = (await tryRate(FIRST_READ, brief ? BRIEF_RATE : FIRST_READS)).perUnit;
    costs.set(FIRST_READ.name, read);
    figures.push(...costFigures(FIRST_READ.name, read));
    const month = Object.entries(MONTH_OF_A_USER).reduce((sum, [name, count]) => {
      const one = costs.get(name);
      return one === undefined ? sum : sum + (count * (dollarsPerMillion(one) + PRICES.httpRequests)) / 1_000;
    }, 0);
    figures.push({ what: "a thousand users for a month, without storage", value: month, unit: "USD" });
    return {
      figures: figures as [Figure, ...Figure[]],
      baseline: {},
      details: {
        limits,
        prices: PRICES.source,
        month_of_a_user: MONTH_OF_A_USER,
        costs: Object.fromEntries(costs),
      },
    };
  },
});
