import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { median } from "./harness/numbers.ts";
import { runMs, startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";

const ITEMS = 1_000;
const ROUNDS = 5;

await runBenchmark({
  name: "foreach",
  what: "A foreach of 1,000 items, 8 at the same time, `true` in bash each",
  peer: "0.8 times xargs, with sh",
  measure: async ({ brief }) => {
    const items = brief ? 40 : ITEMS;
    const folder = createTemporaryFolder("items");
    const list = join(folder, "items.txt");
    writeFileSync(list, Array.from({ length: items }, (_, at) => `item-${at}\n`).join(""));
    const server = await startServer();
    await server.storeWorkflow(foreach("foreach", list, "true"));
    await server.storeWorkflow(foreach("foreach-effects", list, `echo [[item]] >> ${folder}/effects`));
    await runMs(server, "foreach-effects");
    const effects = readFileSync(join(folder, "effects"), "utf8").trim().split("\n");
    if (effects.length !== items || new Set(effects).size !== items)
      throw new Error(
        `${new Set(effects).size} of ${items} items had their effect, in ${effects.length} commands`,
      );
    const ours: number[] = [];
    const xargs: number[] = [];
    const xargsSh: number[] = [];
    for (let round = 0; round < (brief ? 1 : ROUNDS); round += 1) {
      xargs.push(await shellMs(`xargs -P8 -n1 bash -c true < ${list}`));
      xargsSh.push(await shellMs(`xargs -P8 -n1 sh -c true < ${list}`));
      ours.push((await runMs(server, "foreach")).ms);
    }
    const bare = median(xargs);
    return {
      figures: [
        { what: "the run, as many times xargs -P8", value: median(ours) / bare, unit: "x", target: 1.05 },
        { what: "the run", value: median(ours), unit: "ms" },
      ],
      baseline: { xargs_bash_ms: bare, xargs_sh_ms: median(xargsSh) },
      details: { items, rounds_ms: ours },
    };
  },
});

function foreach(name: string, list: string, command: string): string {
  return `
name: ${name}
steps:
  - name: each
    type: foreach
    input: ${list}
    variable: item
    parallel: 8
    step: { name: one, type: bash, command: ${JSON.stringify(command)} }
`;
}
