import { afterAll, beforeAll, expect, test } from "vitest";
import { EVENTS_PER_ROUND, type KillRounds, openKillRounds, UNFINISHED_MIN } from "./kill-rounds.ts";

const ROUNDS = 10;

let rounds: KillRounds;
beforeAll(async () => {
  rounds = await openKillRounds();
});
afterAll(() => rounds[Symbol.asyncDispose]());

test.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
  "round %d: two kills, after 200 emits and during their runs, neither lose nor repeat a step",
  async (number) => {
    const round = await rounds.round(number);
    expect(round.orphans).toEqual([]);
    expect(round.faults).toEqual([]);
    expect(round.acknowledged).toHaveLength(EVENTS_PER_ROUND);
    expect(round.runs).toHaveLength(EVENTS_PER_ROUND);
    expect(round.runs.map((run) => run.event_id).sort()).toEqual([...round.acknowledged].sort());
    expect(new Set(round.runs.map((run) => run.status))).toEqual(new Set(["completed"]));
    expect(round.unfinishedAtKill).toBeGreaterThanOrEqual(UNFINISHED_MIN);
    const own = new Set(round.runs.map((run) => run.run_id));
    const lines = round.journal.filter((line) => own.has(line.split(" ")[0] ?? ""));
    expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
    expect(lines.filter((line) => line.endsWith(" 2")).length).toBeGreaterThan(0);
    const begun = new Set(lines.map((line) => line.split(" ").slice(0, 2).join(" ")));
    expect(begun.size).toBe(EVENTS_PER_ROUND * 3);
  },
  120_000,
);
