import fc from "fast-check";
import { expect, it } from "vitest";
import type { Step } from "../definition/types.ts";
import { decide, type Input, isContainer, type Request, underWay } from "./decide.ts";
import { evolve, type HistoryEntry, isTerminal, NEW_RUN, type RunState, replay } from "./history.ts";
import type { Program } from "./program.ts";
import {
  bash,
  foreach,
  parallel,
  programOf,
  recorded,
  resultOf,
  runInOrder,
  type World,
} from "./test-programs.ts";

/** The shape of a step, before it has a name. */
type Shape = "leaf" | { readonly all: readonly Shape[] } | { readonly each: Shape };

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: "small", withCrossShrink: true },
    { arbitrary: fc.constant<Shape>("leaf"), weight: 3 },
    { arbitrary: fc.record({ all: fc.array(tie("shape"), { maxLength: 3 }) }), weight: 2 },
    { arbitrary: fc.record({ each: tie("shape") }), weight: 2 },
  ),
}));

function named(shapes: readonly Shape[]): Step[] {
  let count = 0;
  const toStep = (one: Shape): Step => {
    count += 1;
    const name = `s${count}`;
    if (one === "leaf") return bash(name);
    return "all" in one ? parallel(name, one.all.map(toStep)) : foreach(name, toStep(one.each));
  };
  return shapes.map(toStep);
}

/** Names begin anew in every module, so that modules share them. */
const programs = fc
  .array(fc.array(shape, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })
  .map((modules) => programOf(...modules.map(named)));

/** Outcomes by what is asked for: the same question always has the same answer. */
const worlds = (program: Program): fc.Arbitrary<World> =>
  fc
    .record({
      seed: fc.nat(),
      failing: fc.integer({ min: 0, max: 40 }),
      items: fc.integer({ min: 0, max: 5 }),
    })
    .map(({ seed, failing, items }) => (request: Request) => {
      const chance = hash(`${seed} ${request.key} ${request.phase}`) % 100;
      const step = program.modules[request.module]?.byName.get(request.step);
      if (chance < failing) {
        const tolerated = chance % 3 === 0;
        if (request.items !== undefined) return { status: "failed", failed_items: 1 };
        return { status: "failed", tolerated };
      }
      if (chance > 95) return { status: request.phase === "leave" ? "completed" : "skipped" };
      if (request.phase !== "enter") return { status: "completed" };
      if (step?.type === "parallel-steps") {
        return { status: "completed", total: step.parallel_steps.length, parallel: 256 };
      }
      const total = step?.type === "foreach" && !isContainer(step.step) ? items * 700 : items;
      return { status: "completed", total, parallel: 1 + (chance % 3) };
    });

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  // The last characters have to reach every bit.
  value = Math.imul(value ^ (value >>> 15), 2_246_822_507) >>> 0;
  return (value ^ (value >>> 13)) >>> 0;
}

const cases = programs.chain((program) =>
  fc.record({
    program: fc.constant(program),
    world: worlds(program),
    chances: fc.infiniteStream(fc.nat({ max: 999 })),
  }),
);

interface Chaos {
  readonly lost: number;
  readonly twice: number;
  /** Told so many inputs, the run is cancelled. */
  readonly cancelAfter?: number;
}

/** A run whose messages are lost, doubled and overtaken by each other; a sweep asks again for what is under way. */
function runInChaos(program: Program, world: World, chances: Iterator<number>, chaos: Chaos) {
  const chance = (): number => Number(chances.next().value);
  const history: HistoryEntry[] = [];
  /** Requests that an executor has taken, and those that it has answered. */
  const taken = new Set<number>();
  let messages: (Input | Request)[] = [{ type: "start" }];
  let state = NEW_RUN;
  const post = (posted: readonly (Input | Request)[]): void => {
    for (const message of posted) {
      if (chance() % 100 < chaos.lost) continue;
      messages.push(message);
      if (chance() % 100 < chaos.twice) messages.push(message);
    }
  };
  const tell = (input: Input): void => {
    const decision = decide(program, state, input);
    checkDecision(program, state, input, decision);
    state = decision.state;
    history.push(...decision.entries);
    post(decision.requests);
  };
  let told = 0;
  for (; told < 200_000; told += 1) {
    if (told === chaos.cancelAfter) tell({ type: "cancel", reason: "enough" });
    if (messages.length === 0) {
      if (isTerminal(state.status)) break;
      taken.clear();
      messages = state.status === "pending" ? [{ type: "start" }] : underWay(program, state);
      expect(messages.length).toBeGreaterThan(0);
      continue;
    }
    const [message] = messages.splice(chance() % messages.length, 1);
    if (message === undefined) continue;
    if (message.type !== "step.requested") tell(message);
    else if (state.frames[message.key]?.dispatch === message.dispatch && !taken.has(message.dispatch)) {
      // Now and then an executor dies of it, with or without its answer on the way, and that is noticed.
      const dies = chance() % 10 === 0;
      if (!dies) taken.add(message.dispatch);
      if (!dies || chance() % 2 === 0) post([resultOf(message, world)]);
      const { key, dispatch, attempt = 1 } = message;
      if (dies) post([{ type: "lost", key, dispatch, attempt: attempt + 1 }]);
    }
  }
  return { state, history, messages };
}

function checkDecision(
  program: Program,
  before: RunState,
  input: Input,
  { state, entries, requests }: ReturnType<typeof decide>,
): void {
  if (entries.length === 0) {
    expect(state).toBe(before);
    expect(requests).toEqual(isTerminal(before.status) ? [] : underWay(program, before));
    return;
  }
  expect(isTerminal(before.status)).toBe(false);
  if (isTerminal(state.status)) expect(requests).toEqual([]);
  expect(entries.filter(({ type }) => type === "step.requested")).toEqual(requests);
  let now = before;
  for (const entry of entries) {
    if (entry.type === "step.requested") checkRequest(now, entry);
    now = evolve(now, entry);
  }
  expect(now).toEqual(state);
  if (input.type === "result" || input.type === "lost") {
    expect(before.frames[input.key]?.dispatch).toBe(input.dispatch);
  }
}

/** Steps one after another are one at a time, and no container has more children under way than it may. */
function checkRequest(state: RunState, request: Request): void {
  const there = state.frames[request.key];
  if (request.attempt !== undefined) {
    expect(there).toMatchObject({ phase: request.phase, parent: request.parent });
    expect(request.dispatch).toBeGreaterThan(state.dispatches);
    return;
  }
  if (request.phase === "leave") expect(there).toMatchObject({ phase: "children", children: { running: 0 } });
  else expect(there).toBeUndefined();
  expect(request.dispatch).toBeGreaterThan(state.dispatches);
  if (request.parent === null) {
    const others = Object.keys(state.frames).filter((key) => key !== request.key);
    expect(others).toEqual([]);
  } else {
    const children = state.frames[request.parent]?.children;
    const running = Object.values(state.frames).filter(({ parent }) => parent === request.parent).length;
    if (request.phase !== "leave") expect(children?.running).toBe(running);
    if (request.phase !== "leave")
      expect(running).toBeLessThan(request.items === undefined ? (children?.parallel ?? 0) : 1);
  }
}

it("ends as the plain run does, however messages are lost, doubled and overtaken", () => {
  fc.assert(
    fc.property(cases, ({ program, world, chances }) => {
      const plain = runInOrder(program, world);
      expect(isTerminal(plain.state.status)).toBe(true);
      expect(replay(plain.entries)).toEqual(plain.state);
      const { state, history, messages } = runInChaos(program, world, chances, { lost: 15, twice: 25 });
      expect(messages.length).toBe(0);
      expect({ ...state, error: undefined, dispatches: 0, entries: 0 }).toEqual({
        ...plain.state,
        error: undefined,
        dispatches: 0,
        entries: 0,
      });
      expect(recorded(history)).toEqual(recorded(plain.entries));
      expect(replay(history)).toEqual(state);
    }),
    { numRuns: 300 },
  );
});

it("records no step twice", () => {
  fc.assert(
    fc.property(cases, ({ program, world, chances }) => {
      const { history } = runInChaos(program, world, chances, { lost: 5, twice: 50 });
      const ends = history.flatMap((entry) =>
        entry.type === "step.finished"
          ? [`${entry.key} ${entry.total === undefined ? "end" : "entered"}`]
          : [],
      );
      expect(new Set(ends).size).toBe(ends.length);
    }),
    { numRuns: 100 },
  );
});

it("is over for good once it is cancelled, wherever it stands", () => {
  fc.assert(
    fc.property(cases, fc.nat({ max: 60 }), ({ program, world, chances }, cancelAfter) => {
      const { state, history } = runInChaos(program, world, chances, { lost: 10, twice: 25, cancelAfter });
      expect(isTerminal(state.status)).toBe(true);
      expect(replay(history)).toEqual(state);
      const end = history.findIndex(({ type }) => type === "run.cancelled" || type === "run.finished");
      expect(end).toBe(history.length - 1);
      expect(state.frames).toEqual({});
      const plain = runInOrder(program, world);
      if (state.status === "cancelled") {
        const everything = new Set(recorded(plain.entries));
        for (const one of recorded(history)) expect(everything).toContain(one);
      } else expect(state.status).toBe(plain.state.status);
    }),
    { numRuns: 200 },
  );
});
