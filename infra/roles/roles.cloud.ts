import { test } from "vitest";
import { compareRoles } from "./compare-roles.ts";
import { openInstallation } from "./test-installation.ts";
import { startRecorder } from "./test-recorder.ts";
import { runTour } from "./test-tour.ts";

/** Characters of the functions' log in an error. */
const LOG_SHOWN = 4_000;
const MINUTE_MS = 60_000;

/**
 * A time at which the sweep checks overdue work and the rules. Its clock does not advance, so this is after everything
 * that becomes due during the tour, such as a second attempt.
 */
function sweepTime(): number {
  let minute = Math.floor(Date.now() / MINUTE_MS) + 15;
  while (minute % 10 !== 7) minute += 1;
  return minute * MINUTE_MS;
}

test("every function has the rights that it needs, and no role has a right that none of its functions uses", async () => {
  const recorder = startRecorder();
  try {
    const clocks: Record<string, number> = {
      SweepFunction: sweepTime(),
      // Every daily schedule is due by then.
      FireFunction: Date.now() + 25 * 60 * MINUTE_MS,
      // Every digest of notifications is due by then.
      SendMailFunction: Date.now() + 10 * MINUTE_MS,
    };
    await using installation = await openInstallation(recorder, (logicalId) => {
      const now = clocks[logicalId];
      return now === undefined ? undefined : { now: () => now };
    });
    await runTour(installation).catch((cause: unknown) => {
      throw new Error(`the tour failed: ${String(cause)}\n${installation.log().slice(-LOG_SHOWN)}`, {
        cause,
      });
    });
    const done = recorder.done();
    const issues = installation.roles
      .map((roles) => compareRoles(roles, done))
      .flatMap(({ neverCalled, missing, unused }) => [
        ...neverCalled.map((actor) => `never called: ${actor}`),
        ...missing.map((right) => `missing: ${right}`),
        ...unused.map((right) => `unused: ${right}`),
      ]);
    // All of them in the message, which an assertion would cut off.
    if (issues.length > 0) throw new Error(`the roles differ from what functions do:\n${issues.join("\n")}`);
  } finally {
    recorder.stop();
  }
}, 600_000);
