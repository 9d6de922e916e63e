import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const PROGRAM = `
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { concealEnvironment } from ${JSON.stringify(new URL("./client.ts", import.meta.url).href)};
const before = { ...process.env };
concealEnvironment();
concealEnvironment();
process.env.LATER = "later";
console.log(JSON.stringify({
  before,
  after: { ...process.env },
  file: readFileSync("/proc/self/environ", "utf8").replaceAll("\\0", ""),
  parent: execFileSync("sh", ["-c", "cat /proc/$PPID/environ"], { encoding: "utf8" }).replaceAll("\\0", ""),
  child: execFileSync("sh", ["-c", "echo $KEY$LATER"], { encoding: "utf8" }),
}));
`;

test.runIf(process.platform === "linux")(
  "children cannot read the environment that a process was started with, and the process has it still",
  () => {
    const env = { PATH: process.env.PATH ?? "", KEY: "secret", EMPTY: "", TEXT: "ü = 1\n2" };
    const options = { env, encoding: "utf8" } as const;
    const told: unknown = JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], options),
    );
    expect(told).toEqual({
      before: env,
      after: { ...env, LATER: "later" },
      file: "",
      parent: "",
      child: "secretlater\n",
    });
  },
);
