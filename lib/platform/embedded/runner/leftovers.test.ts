import { type ChildProcess, spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { Leftovers } from "./leftovers.ts";
import { TOKEN_VARIABLE } from "./protocol.ts";

function sleepWith(token: string): ChildProcess {
  const child = spawn("sleep", ["600"], {
    env: { PATH: process.env.PATH, [TOKEN_VARIABLE]: token },
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test.runIf(process.platform === "linux")(
  "the next command of a step is not ended as a leftover of the previous one, even during the scan for leftovers",
  async () => {
    const leftovers = new Leftovers(() => {});
    const [token, other] = [`next/${process.pid}/1`, `other/${process.pid}/1`];
    for (const one of [token, other]) leftovers.hold(one);
    const left = sleepWith(other);
    const ended = new Promise((resolve) => left.once("exit", (_, signal) => resolve(signal)));
    const scans = [token, other].map((one) => leftovers.release(one, true));
    leftovers.hold(token);
    const next = sleepWith(token);
    await Promise.all(scans);
    expect(await ended).toBe("SIGKILL");
    expect([next.exitCode, next.signalCode]).toEqual([null, null]);
    const nextEnded = new Promise((resolve) => next.once("exit", (_, signal) => resolve(signal)));
    await leftovers.endAll();
    expect(await nextEnded).toBe("SIGKILL");
  },
);
