import { writeFileSync } from "node:fs";
import { StatementSync } from "node:sqlite";

// Loaded into a server with `--import`: counts statements and JSON calls, and writes the counts to a file on SIGUSR2.
const counts: Record<string, number> = {};

function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** The verb of a statement. Each COMMIT is one write to the disk. */
function verbOf(sql: string): string {
  const verb = /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? "";
  return ["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(verb) ? "rows written" : verb;
}

const stringify = JSON.stringify;
for (const name of ["parse", "stringify"] as const) {
  const original = JSON[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(JSON, name, {
    value: (...args: unknown[]) => {
      count(`JSON.${name}`);
      return original(...args);
    },
  });
}
for (const name of ["run", "get", "all", "iterate"] as const) {
  const original = StatementSync.prototype[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(StatementSync.prototype, name, {
    value: function (this: StatementSync, ...args: unknown[]) {
      count(verbOf(this.sourceSQL));
      return original.apply(this, args);
    },
  });
}

process.on("SIGUSR2", () => writeFileSync(process.env.WEFT_BENCH_COUNTS ?? "/dev/null", stringify(counts)));
