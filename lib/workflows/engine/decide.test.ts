import { describe, expect, it } from "vitest";
import { childKey } from "./containers.ts";
import { type Decision, decide, type Input, JUMPS_MAX, waiting } from "./decide.ts";
import { type HistoryEntry, NEW_RUN, type RunState, replay } from "./history.ts";
import type { Program } from "./program.ts";
import {
  bash,
  foreach,
  type Outcome,
  parallel,
  programOf,
  recorded,
  resultOf,
  runInOrder,
} from "./test-programs.ts";

/** A run that receives one input after another. */
function conducted(program: Program) {
  let state: RunState = NEW_RUN;
  const history: HistoryEntry[] = [];
  return {
    get state() {
      return state;
    },
    history,
    tell(input: Input): Decision {
      const decision = decide(program, state, input);
      state = decision.state;
      history.push(...decision.entries);
      return decision;
    },
    answer(key: string, outcome: Partial<Outcome> & { error?: string } = {}): Decision {
      const dispatch = state.frames[key]?.dispatch ?? -1;
      return this.tell({ type: "result", key, dispatch, status: "completed", ...outcome });
    },
  };
}

const requestedSteps = ({ requests }: Decision): string[] =>
  requests.map(({ key, phase }) => `${key} ${phase}`);

describe("a sequence", () => {
  it("requests one step after another and completes", () => {
    const run = conducted(programOf([bash("a"), bash("b")]));
    expect(requestedSteps(run.tell({ type: "start" }))).toEqual(["a run"]);
    expect(requestedSteps(run.answer("a"))).toEqual(["b run"]);
    expect(requestedSteps(run.answer("b"))).toEqual([]);
    expect(run.state).toMatchObject({ status: "completed", done: 2, frames: {} });
    expect(run.history.map(({ type }) => type)).toEqual([
      "run.started",
      "module.started",
      "step.requested",
      "step.finished",
      "step.requested",
      "step.finished",
      "module.finished",
      "run.finished",
    ]);
    expect(replay(run.history)).toEqual(run.state);
  });

  it("ends at the first failure with its error, and does not count the step as done", () => {
    const run = conducted(programOf([bash("a"), bash("b"), bash("c")]));
    run.tell({ type: "start" });
    run.answer("a");
    expect(requestedSteps(run.answer("b", { status: "failed", error: "no luck" }))).toEqual([]);
    expect(run.state).toMatchObject({ status: "failed", error: "no luck", done: 1 });
  });

  it("continues after a tolerated failure and after a skipped step", () => {
    const run = conducted(programOf([bash("a"), bash("b"), bash("c")]));
    run.tell({ type: "start" });
    expect(requestedSteps(run.answer("a", { status: "failed", tolerated: true }))).toEqual(["b run"]);
    expect(requestedSteps(run.answer("b", { status: "skipped" }))).toEqual(["c run"]);
    run.answer("c");
    expect(run.state).toMatchObject({ status: "completed", done: 3 });
  });

  it("requests running steps again after a repeated or late input, and changes nothing", () => {
    const run = conducted(programOf([bash("a"), bash("b")]));
    run.tell({ type: "start" });
    const first = run.state.frames.a?.dispatch ?? 0;
    run.answer("a");
    const before = run.state;
    for (const input of [
      { type: "start" },
      { type: "result", key: "a", dispatch: first, status: "failed" },
      { type: "result", key: "nowhere", dispatch: 1, status: "completed" },
      { type: "result", key: "b", dispatch: 99, status: "completed" },
    ] as const satisfies readonly Input[]) {
      const decision = run.tell(input);
      expect(decision.entries).toEqual([]);
      expect(decision.state).toBe(before);
      expect(requestedSteps(decision)).toEqual(["b run"]);
    }
  });

  it("runs the modules of a flow in order, with distinct keys for equal step names", () => {
    const run = conducted(programOf([bash("a")], [bash("a"), parallel("p", [bash("x")])]));
    expect(requestedSteps(run.tell({ type: "start" }))).toEqual(["m0/a run"]);
    expect(requestedSteps(run.answer("m0/a"))).toEqual(["m1/a run"]);
    expect(requestedSteps(run.answer("m1/a"))).toEqual(["m1/p enter"]);
    expect(requestedSteps(run.answer("m1/p", { total: 1, parallel: 9 }))).toEqual(["m1/x run"]);
    expect(requestedSteps(run.answer("m1/x"))).toEqual(["m1/p leave"]);
    run.answer("m1/p");
    expect(run.state).toMatchObject({ status: "completed", done: 3 });
  });
});

describe("a decision", () => {
  it("continues forwards, backwards, or at the end of the module; an unknown name is ignored", () => {
    const run = conducted(programOf([bash("a"), bash("b"), bash("c")]));
    run.tell({ type: "start" });
    expect(requestedSteps(run.answer("a", { goto: "c" }))).toEqual(["c run"]);
    expect(requestedSteps(run.answer("c", { goto: "a" }))).toEqual(["a run"]);
    expect(requestedSteps(run.answer("a", { goto: "gone" }))).toEqual(["b run"]);
    run.answer("b", { goto: "_end" });
    expect(run.state).toMatchObject({ status: "completed", done: 4, jumps: 3 });
    expect(replay(run.history)).toEqual(run.state);
  });

  it("that loops forever fails the run", () => {
    const run = conducted(programOf([bash("a")]));
    run.tell({ type: "start" });
    for (let jump = 0; jump < JUMPS_MAX; jump += 1) run.answer("a", { goto: "a" });
    expect(run.state.status).toBe("running");
    run.answer("a", { goto: "a" });
    expect(run.state).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^goto: .* 1000 times$/),
    });
  });
});

describe("a retried step", () => {
  it("waits for its timer, which is valid for one request only", () => {
    const run = conducted(programOf([bash("a"), bash("b")]));
    run.tell({ type: "start" });
    const first = run.state.frames.a?.dispatch ?? 0;
    expect(requestedSteps(run.answer("a", { status: "failed", retry_at: 50 }))).toEqual([]);
    expect(waiting(run.state)).toEqual([{ input: { type: "retry", key: "a", dispatch: first }, at: 50 }]);
    expect(run.tell({ type: "result", key: "a", dispatch: first, status: "completed" }).entries).toEqual([]);
    expect(run.tell({ type: "retry", key: "a", dispatch: first + 1 }).entries).toEqual([]);
    const retried = run.tell({ type: "retry", key: "a", dispatch: first });
    expect(retried.requests).toMatchObject([{ key: "a", phase: "run", tries: 2 }]);
    expect(run.tell({ type: "retry", key: "a", dispatch: first }).entries).toEqual([]);
    expect(requestedSteps(run.answer("a"))).toEqual(["b run"]);
    expect(run.history.filter(({ type }) => type === "step.waits")).toHaveLength(1);
  });
});

describe("a run that is ended from outside", () => {
  it("is cancelled permanently: nothing is requested or recorded afterwards", () => {
    const run = conducted(programOf([parallel("p", [bash("a"), bash("b")])]));
    run.tell({ type: "start" });
    run.answer("p", { total: 2, parallel: 2 });
    const late = {
      type: "result",
      key: "a",
      dispatch: run.state.frames.a?.dispatch ?? 0,
      status: "completed",
    } as const;
    run.tell({ type: "cancel", reason: "enough" });
    expect(run.state).toMatchObject({ status: "cancelled", error: "enough", frames: {} });
    for (const input of [
      late,
      { type: "fail", error: "x" },
      { type: "start" },
      { type: "cancel", reason: "y" },
    ] as const) {
      expect(run.tell(input)).toEqual({ state: run.state, entries: [], requests: [] });
    }
  });

  it("can be cancelled before its start, and failed with a reason", () => {
    const early = conducted(programOf([bash("a")]));
    early.tell({ type: "cancel", reason: "no" });
    expect(requestedSteps(early.tell({ type: "start" }))).toEqual([]);
    expect(early.state.status).toBe("cancelled");
    const broken = conducted(programOf([bash("a")]));
    broken.tell({ type: "start" });
    broken.tell({ type: "fail", error: "the executor is gone" });
    expect(broken.state).toMatchObject({ status: "failed", error: "the executor is gone" });
  });
});

describe("parallel-steps", () => {
  it("starts all children concurrently, lets each finish, and fails with the count and the first error", () => {
    const run = conducted(programOf([parallel("p", [bash("a"), bash("b"), bash("c")]), bash("after")]));
    expect(requestedSteps(run.tell({ type: "start" }))).toEqual(["p enter"]);
    expect(requestedSteps(run.answer("p", { total: 3, parallel: 256 }))).toEqual(["a run", "b run", "c run"]);
    expect(requestedSteps(run.answer("b", { status: "failed", error: "b broke" }))).toEqual([]);
    expect(
      requestedSteps(run.answer("a", { status: "failed", tolerated: true, error: "never mind" })),
    ).toEqual([]);
    expect(requestedSteps(run.answer("c"))).toEqual(["p leave"]);
    // The children decide, whatever the executor reports.
    run.answer("p", { status: "failed", error: "b broke" });
    expect(run.state).toMatchObject({ status: "failed", error: "1 of 3 failed, the first: b broke" });
  });

  it("does not fail the run if its own handlers tolerate the failure of its children", () => {
    const run = conducted(programOf([parallel("p", [bash("a")]), bash("after")]));
    run.tell({ type: "start" });
    run.answer("p", { total: 1, parallel: 1 });
    run.answer("a", { status: "failed", error: "a broke" });
    expect(requestedSteps(run.answer("p", { status: "failed", tolerated: true }))).toEqual(["after run"]);
  });

  it("ends without children if it is skipped or its `enter` phase fails", () => {
    const skipped = conducted(programOf([parallel("p", [bash("a")]), bash("after")]));
    skipped.tell({ type: "start" });
    expect(requestedSteps(skipped.answer("p", { status: "skipped" }))).toEqual(["after run"]);
    const failed = conducted(programOf([foreach("f", bash("a")), bash("after")]));
    failed.tell({ type: "start" });
    failed.answer("f", { status: "failed", error: "no such file" });
    expect(failed.state).toMatchObject({ status: "failed", error: "no such file" });
  });

  it("ignores a duplicate result of the `enter` phase while the children run", () => {
    const run = conducted(programOf([parallel("p", [bash("a")])]));
    run.tell({ type: "start" });
    const dispatch = run.state.frames.p?.dispatch ?? 0;
    run.answer("p", { total: 1, parallel: 1 });
    const repeated = run.tell({
      type: "result",
      key: "p",
      dispatch,
      status: "completed",
      total: 7,
      parallel: 7,
    });
    expect(repeated.entries).toEqual([]);
    expect(requestedSteps(repeated)).toEqual(["a run"]);
    expect(run.state.frames.p?.dispatch).not.toBe(dispatch);
  });
});

describe("foreach", () => {
  it("requests a leaf in batches of a thousand, one after another", () => {
    const run = conducted(programOf([foreach("f", bash("a"))]));
    run.tell({ type: "start" });
    const first = run.answer("f", { total: 2_500, parallel: 20 });
    expect(first.requests).toMatchObject([{ key: "a#0", items: [0, 1_000], phase: "run", parent: "f" }]);
    expect(run.answer("a#0", { failed_items: 3, status: "failed", error: "item 7" }).requests).toMatchObject([
      { key: "a#1000", items: [1_000, 2_000] },
    ]);
    expect(run.answer("a#1000").requests).toMatchObject([{ key: "a#2000", items: [2_000, 2_500] }]);
    expect(
      requestedSteps(run.answer("a#2000", { failed_items: 1, status: "failed", error: "item 2001" })),
    ).toEqual(["f leave"]);
    run.answer("f", { status: "failed", error: "item 7" });
    expect(run.state).toMatchObject({ status: "failed", error: "4 of 2500 failed, the first: item 7" });
  });

  it("runs container children with the configured concurrency", () => {
    const run = conducted(programOf([foreach("f", parallel("p", [bash("a")]))]));
    run.tell({ type: "start" });
    expect(requestedSteps(run.answer("f", { total: 3, parallel: 2 }))).toEqual(["p#0 enter", "p#1 enter"]);
    expect(requestedSteps(run.answer("p#1", { total: 1, parallel: 1 }))).toEqual(["a#1 run"]);
    expect(requestedSteps(run.answer("a#1"))).toEqual(["p#1 leave"]);
    expect(requestedSteps(run.answer("p#1"))).toEqual(["p#2 enter"]);
  });

  it("is left immediately without items", () => {
    const run = conducted(programOf([foreach("f", bash("a")), parallel("p", [])]));
    run.tell({ type: "start" });
    expect(requestedSteps(run.answer("f", { total: 0, parallel: 4 }))).toEqual(["f leave"]);
    expect(requestedSteps(run.answer("f"))).toEqual(["p enter"]);
    run.answer("p", { total: 0, parallel: 1 });
    run.answer("p");
    expect(run.state.status).toBe("completed");
  });

  it("derives keys of children from their positions, and in a flow from their module", () => {
    expect(childKey("f", "a", 3)).toBe("a#3");
    expect(childKey("g#3", "b", 7)).toBe("b#3.7");
    expect(childKey("p#3", "b", undefined)).toBe("b#3");
    expect(childKey("m1/f", "a", 3)).toBe("m1/a#3");
    expect(childKey("m1/p", "a", undefined)).toBe("m1/a");
  });
});

describe("size", () => {
  const STATE_BYTES_MAX = 1_000;

  it("a thousand steps result in a small state", () => {
    const steps = Array.from({ length: 1_000 }, (_, n) => bash(`step-${n}`));
    const { state, peakBytes } = runInOrder(programOf(steps), () => ({ status: "completed" }));
    expect(state).toMatchObject({ status: "completed", done: 1_000 });
    expect(peakBytes).toBeLessThan(STATE_BYTES_MAX);
  });

  it.each([
    [10_000, 10],
    [1_000_000, 1_000],
  ])("%i items need %i batches and a small state", (total, batches) => {
    const { state, entries, peakBytes } = runInOrder(programOf([foreach("f", bash("a"))]), ({ phase }) =>
      phase === "enter" ? { status: "completed", total, parallel: 50 } : { status: "completed" },
    );
    expect(state.status).toBe("completed");
    expect(recorded(entries).filter((entry) => entry.includes('"a#'))).toHaveLength(batches);
    expect(peakBytes).toBeLessThan(STATE_BYTES_MAX);
  });

  it.each([
    [
      "two",
      foreach(
        "f0",
        foreach(
          "f1",
          parallel(
            "p",
            Array.from({ length: 8 }, (_, n) => bash(`leaf-${n}`)),
          ),
        ),
      ),
    ],
    [
      "twelve",
      Array.from({ length: 12 }, (_, n) => n).reduce(
        (inner, n) => foreach(`f${n}`, inner),
        parallel("p", [bash("a")]) as ReturnType<typeof bash>,
      ),
    ],
  ])("wide containers nested %s levels deep fit into the row of the run", (_name, step) => {
    // Even names and errors of maximum length fit into 400 KiB.
    const program = programOf([step]);
    let peakFrames = 0;
    const pending: Input[] = [{ type: "start" }];
    let state = NEW_RUN;
    for (let turns = 0; turns < 2_000 && pending.length > 0; turns += 1) {
      const decision = decide(program, state, pending.shift() as Input);
      state = decision.state;
      peakFrames = Math.max(peakFrames, Object.keys(state.frames).length);
      for (const { key, dispatch, phase, step_type } of decision.requests) {
        const total = step_type === "foreach" ? 256 : 8;
        const entered = phase === "enter" ? { total, parallel: 256 } : {};
        // Leaves never answer, so the maximum number of concurrent steps is reached.
        if (phase === "enter")
          pending.push({ type: "result", key, dispatch, status: "completed", ...entered });
      }
    }
    expect(pending).toEqual([]);
    expect(peakFrames).toBeGreaterThan(100);
    expect(peakFrames).toBeLessThanOrEqual(520);
    expect(JSON.stringify(state).length).toBeLessThan(120_000);
  });

  it("the errors of many children result in a state that still fits", () => {
    const width = 200;
    const program = programOf([foreach("f", parallel("p", [bash("a"), bash("b")]))]);
    const error = "e".repeat(4_000);
    const run = conducted(program);
    run.tell({ type: "start" });
    run.answer("f", { total: width, parallel: width });
    for (let n = 0; n < width; n += 1) run.answer(`p#${n}`, { total: 2, parallel: 2 });
    for (let n = 0; n < width; n += 1) run.answer(`a#${n}`, { status: "failed", error });
    expect(Object.values(run.state.frames).filter(({ children }) => children?.failed === 1)).toHaveLength(
      width,
    );
    expect(JSON.stringify(run.state).length).toBeLessThan(150_000);
  });

  it("an error of few children is not truncated", () => {
    const error = "e".repeat(4_000);
    const run = conducted(programOf([parallel("p", [bash("a")])]));
    run.tell({ type: "start" });
    run.answer("p", { total: 1, parallel: 1 });
    run.answer("a", { status: "failed", error });
    run.answer("p", { status: "failed", error });
    expect(run.state.error).toBe(error);
  });
});

describe("a step whose executor was lost", () => {
  const program = programOf([bash("a"), bash("b")]);
  const started = decide(program, NEW_RUN, { type: "start" });
  const lost = (state: RunState, attempt: number, more: { interrupted?: number } = {}) => {
    const dispatch = state.frames["a"]?.dispatch ?? 0;
    return decide(program, state, { type: "lost", key: "a", dispatch, attempt, ...more });
  };

  it("is requested again with a new dispatch number and its attempt number", () => {
    const { state, requests } = lost(started.state, 2);
    expect(requests).toMatchObject([{ key: "a", dispatch: 2, attempt: 2 }]);
    const late = { type: "result", key: "a", dispatch: 1, status: "completed" } as const;
    expect(decide(program, state, late).entries).toEqual([]);
    expect(decide(program, state, { ...late, dispatch: 2 }).requests).toMatchObject([
      { key: "b", dispatch: 3 },
    ]);
  });

  it("ignores a duplicate report, and one about an answered request", () => {
    const { state } = lost(started.state, 2);
    const lostInput = { type: "lost", key: "a", dispatch: 1, attempt: 2 } as const;
    expect(decide(program, state, lostInput).entries).toEqual([]);
    const answered = decide(program, state, { type: "result", key: "a", dispatch: 2, status: "completed" });
    expect(decide(program, answered.state, { ...lostInput, dispatch: 2 }).entries).toEqual([]);
  });

  it("is given up after ten attempts", () => {
    let { state } = started;
    for (let attempt = 2; attempt <= 10; attempt += 1) ({ state } = lost(state, attempt));
    expect(state.status).toBe("running");
    expect(lost(state, 11).state).toMatchObject({
      status: "failed",
      error: "not retried: its executor was lost 10 times",
    });
  });

  it("loses no attempt when the whole server stops, up to a thousand times", () => {
    let { state } = started;
    for (let attempt = 2; attempt <= 101; attempt += 1)
      ({ state } = lost(state, attempt, { interrupted: 1 }));
    expect(state.frames["a"]).toMatchObject({ attempt: 101, interrupted: 100 });
    for (let attempt = 102; attempt <= 110; attempt += 1) ({ state } = lost(state, attempt));
    expect(state.status).toBe("running");
    expect(lost(state, 111).state.error).toMatch(/not retried: its executor was lost/);
    ({ state } = lost(state, 1_010, { interrupted: 900 }));
    expect(state.status).toBe("running");
    expect(lost(state, 1_011, { interrupted: 1 }).state.error).toMatch(/not retried: its executor was lost/);
  });

  it("restarts its count with a retry", () => {
    const { state } = lost(started.state, 2, { interrupted: 1 });
    const failed = { type: "result", key: "a", dispatch: 2, status: "failed", retry_at: 1 } as const;
    const waits = decide(program, state, failed).state;
    const [request] = decide(program, waits, { type: "retry", key: "a", dispatch: 2 }).requests;
    expect(request).toMatchObject({ tries: 2 });
    expect([request?.attempt, request?.interrupted]).toEqual([undefined, undefined]);
  });

  it("is not counted twice by its container", () => {
    const nested = programOf([foreach("f", bash("item"))]);
    const world = (request: { phase: string }) =>
      ({ status: "completed", ...(request.phase === "enter" ? { total: 2_500, parallel: 4 } : {}) }) as const;
    let { state, requests } = decide(nested, NEW_RUN, { type: "start" });
    for (let turns = 0; turns < 20 && state.status === "running"; turns += 1) {
      const [request] = requests;
      if (request === undefined) break;
      const { key, dispatch } = request;
      const decision =
        request.attempt === undefined
          ? decide(nested, state, { type: "lost", key, dispatch, attempt: 2 })
          : decide(nested, state, resultOf(request, world));
      ({ state, requests } = decision);
    }
    expect(state).toMatchObject({ status: "completed", done: 1 });
    // Enter, three batches and leave, each requested twice.
    expect(state.dispatches).toBe(10);
  });
});
