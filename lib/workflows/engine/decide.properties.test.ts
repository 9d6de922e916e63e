import fc from "fast-check";
import { expect, it } from "vitest";
import type { Definition, FlowModule, Step } from "../schema/types.ts";
import { decide, type Input, underWay, waiting } from "./decide.ts";
import { evolve, type HistoryEntry, isTerminal, NEW_RUN, type RunState, replay } from "./history.ts";
import { buildProgram, type PinnedModule, type Program } from "./program.ts";
import {
  bash,
  foreach,
  graphOf,
  parallel,
  recorded,
  resultOf,
  runInOrder,
  type Scenario,
} from "./test-programs.ts";
import { isContainer, type StepRequestEntry } from "./walk.ts";

/** A step without a name. */
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

/** Which of the preceding elements each element depends on: one bit per element. */
const waits = (count: number) =>
  fc
    .array(fc.nat({ max: 255 }), { minLength: count, maxLength: count })
    .map((bits) => bits.map((mask, at) => [...Array(at).keys()].filter((other) => (mask >> other) & 1)));

const modules = fc.array(shape, { minLength: 1, maxLength: 4 }).chain((shapes) =>
  fc.record({
    shapes: fc.constant(shapes),
    waitsFor: fc.option(waits(shapes.length), { nil: undefined }),
    gated: fc.boolean(),
    handled: fc.boolean(),
  }),
);

const GATE = { condition: "true", given: {}, params: [] } as const;
const HANDLERS = { on_success: [{ action: "log" }], on_error: [{ action: "log" }] } as const;

/** Names restart in every module, so that modules share them. */
const programs = fc.array(modules, { minLength: 1, maxLength: 4 }).chain((all) =>
  waits(all.length).map((after) =>
    graphOf(
      ...all.map(({ shapes, waitsFor, gated, handled }, at) => ({
        steps: named(shapes),
        after: after[at] ?? [],
        ...(waitsFor === undefined ? {} : { waitsFor }),
        ...(gated ? { gate: GATE } : {}),
        ...(handled ? { handlers: HANDLERS } : {}),
      })),
    ),
  ),
);

/** Outcomes by request: the same request always has the same outcome. */
const worlds = (program: Program): fc.Arbitrary<Scenario> =>
  fc
    .record({
      seed: fc.nat(),
      failing: fc.integer({ min: 0, max: 40 }),
      items: fc.integer({ min: 0, max: 5 }),
    })
    .map(({ seed, failing, items }) => (request: StepRequestEntry) => {
      const { tries = 1 } = request;
      const chance = hash(`${seed} ${request.key} ${request.phase} ${tries}`) % 100;
      const step = program.modules[request.module]?.byName.get(request.step);
      if (chance < failing) {
        if (request.phase === "run" && request.items === undefined && tries < 3 && chance % 2 === 0)
          return { status: "failed", retry_at: 1_000 };
        const tolerated = chance % 3 === 0;
        if (request.items !== undefined) return { status: "failed", failed_items: 1 };
        return { status: "failed", tolerated };
      }
      if (chance > 95) return { status: request.phase === "leave" ? "completed" : "skipped" };
      if (request.phase !== "enter") return { status: "completed", ...onward(program, request, chance) };
      if (step?.type === "parallel-steps") {
        return { status: "completed", total: step.parallel_steps.length, parallel: 256 };
      }
      const total = step?.type === "foreach" && !isContainer(step.step) ? items * 700 : items;
      return { status: "completed", total, parallel: 1 + (chance % 3) };
    });

/** Sometimes a step has a goto to a later step, or to the end of its module. */
function onward(
  program: Program,
  { module, position, phase }: StepRequestEntry,
  chance: number,
): { goto?: string } {
  if (position === undefined || phase !== "run" || chance % 5 !== 0) return {};
  const later = program.modules[module]?.steps.slice(position + 1) ?? [];
  return { goto: later[chance % (later.length + 1)]?.name ?? "_end" };
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  // The last characters must affect every bit.
  value = Math.imul(value ^ (value >>> 15), 2_246_822_507) >>> 0;
  return (value ^ (value >>> 13)) >>> 0;
}

/** Programs, each with the outcomes of its steps and the faults of its messages. */
const inWorlds = (some: fc.Arbitrary<Program>) =>
  some.chain((program) =>
    fc.record({
      program: fc.constant(program),
      world: worlds(program),
      chances: fc.infiniteStream(fc.nat({ max: 999 })),
    }),
  );
const cases = inWorlds(programs);

interface Chaos {
  readonly lost: number;
  readonly twice: number;
  /** After this number of inputs, the run is cancelled. */
  readonly cancelAfter?: number;
}

/** Runs a program whose messages are lost, duplicated and reordered; a sweep resends the requests of running steps. */
function runInChaos(program: Program, world: Scenario, chances: Iterator<number>, chaos: Chaos) {
  const chance = (): number => Number(chances.next().value);
  const history: HistoryEntry[] = [];
  /** Requests that an executor has taken, and those that it has answered. */
  const taken = new Set<number>();
  let messages: (Input | StepRequestEntry)[] = [{ type: "start" }];
  let state = NEW_RUN;
  const post = (posted: readonly (Input | StepRequestEntry)[]): void => {
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
      messages =
        state.status === "pending"
          ? [{ type: "start" }]
          : [...underWay(program, state), ...waiting(state).map(({ input }) => input)];
      expect(messages.length).toBeGreaterThan(0);
      continue;
    }
    const [message] = messages.splice(chance() % messages.length, 1);
    if (message === undefined) continue;
    if (message.type !== "step.requested") tell(message);
    else if (state.frames[message.key]?.dispatch === message.dispatch && !taken.has(message.dispatch)) {
      // Sometimes an executor dies, with or without having sent its result, and is reported as lost.
      const dies = chance() % 10 === 0;
      if (!dies) taken.add(message.dispatch);
      if (!dies || chance() % 2 === 0) post([resultOf(message, world, state.jumps)]);
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
    if (entry.type === "step.requested") checkRequest(program, now, entry);
    now = evolve(now, entry);
  }
  expect(now).toEqual(state);
  if (input.type === "result" || input.type === "lost") {
    expect(before.frames[input.key]?.dispatch).toBe(input.dispatch);
  }
}

/** Sequential steps run one at a time, and no container exceeds its limit of running children. */
function checkRequest(program: Program, state: RunState, request: StepRequestEntry): void {
  const there = state.frames[request.key];
  if (there?.phase === "waiting") {
    expect(request).toMatchObject({ phase: "run", tries: (there.tries ?? 1) + 1 });
    return;
  }
  if (request.attempt !== undefined) {
    expect(there).toMatchObject({ phase: request.phase, parent: request.parent });
    expect(request.dispatch).toBeGreaterThan(state.dispatches);
    return;
  }
  if (request.phase === "leave") expect(there).toMatchObject({ phase: "children", children: { running: 0 } });
  else expect(there).toBeUndefined();
  expect(request.dispatch).toBeGreaterThan(state.dispatches);
  if (request.parent === null) {
    checkTurn(program, state, request);
  } else {
    const children = state.frames[request.parent]?.children;
    const running = Object.values(state.frames).filter(({ parent }) => parent === request.parent).length;
    if (request.phase !== "leave") expect(children?.running).toBe(running);
    if (request.phase !== "leave")
      expect(running).toBeLessThan(request.items === undefined ? (children?.parallel ?? 0) : 1);
  }
}

/**
 * Steps without declared dependencies run one at a time; others wait for their dependencies. The same holds for
 * modules.
 */
function checkTurn(program: Program, state: RunState, request: StepRequestEntry): void {
  const module = program.modules[request.module];
  const others = Object.entries(state.frames).filter(
    ([key, frame]) => key !== request.key && frame.module === request.module,
  );
  const inOrder = module?.waitsFor === undefined || request.position === undefined;
  if (inOrder) expect(others).toEqual([]);
  else {
    const letters = state.modules[request.module]?.steps ?? "";
    for (const other of module.waitsFor?.[request.position ?? -1] ?? [])
      expect(letters[other]).toMatch(/[cs]/);
  }
  for (const other of module?.after ?? []) {
    expect(state.modules[other]?.status).not.toBe("running");
    expect(state.modules[other]).toBeDefined();
  }
}

/** Which failure comes first is random if several steps run concurrently. */
const plainly = (state: RunState): unknown => ({
  ...state,
  modules: Object.fromEntries(
    Object.entries(state.modules).map(([index, { error, ...module }]) => [
      index,
      { ...module, failed: error !== undefined },
    ]),
  ),
  error: undefined,
  dispatches: 0,
  entries: 0,
});

/** With any faults, the run ends like the plain run and has recorded the same. */
function endsAlike(program: Program, world: Scenario, chances: Iterator<number>, chaos: Chaos): RunState {
  const plain = runInOrder(program, world);
  expect(isTerminal(plain.state.status)).toBe(true);
  expect(replay(plain.entries)).toEqual(plain.state);
  const { state, history, messages } = runInChaos(program, world, chances, chaos);
  expect(messages.length).toBe(0);
  expect(plainly(state)).toEqual(plainly(plain.state));
  expect(recorded(history)).toEqual(recorded(plain.entries));
  expect(replay(history)).toEqual(state);
  return state;
}

it("ends like the plain run with lost, duplicate and reordered messages", () => {
  fc.assert(
    fc.property(cases, ({ program, world, chances }) => {
      endsAlike(program, world, chances, { lost: 15, twice: 25 });
    }),
    { numRuns: 300 },
  );
});

const definitionOf = (name: string, parts: Partial<Definition>): Definition => ({
  name,
  kind: "module",
  description: "",
  tags: [],
  hidden: false,
  params: [],
  triggers: [],
  steps: [],
  modules: [],
  ...parts,
});

const hookSteps = fc.nat({ max: 2 });
const hooksOf = (before: number, after: number): NonNullable<Definition["hooks"]> => ({
  pre_scan_steps: Array.from({ length: before }, (_, at) => bash(`before${at}`)),
  post_scan_steps: Array.from({ length: after }, (_, at) => bash(`after${at}`)),
});

/**
 * A flow as its author writes it: hooks of the flow and of modules, dependencies of steps and modules, excluded
 * modules.
 */
const flows = fc
  .array(
    fc.record({
      module: modules,
      before: hookSteps,
      after: hookSteps,
      inline: fc.boolean(),
      condition: fc.boolean(),
      excluded: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .chain((all) =>
    fc
      .record({ order: waits(all.length), before: hookSteps, after: hookSteps })
      .map(({ order, before, after }) => {
        const inFlow = all.map(({ module, inline, condition }, at): FlowModule => {
          const steps = waitingSteps(module);
          return {
            name: `m${at}`,
            params: {},
            depends_on: (order[at] ?? []).map((other) => `m${other}`),
            ...(inline ? { steps } : { path: `w${at}` }),
            ...(condition ? { condition: "true" } : {}),
            ...(module.handled ? HANDLERS : {}),
          };
        });
        const flow = definitionOf("flow", { kind: "flow", modules: inFlow, hooks: hooksOf(before, after) });
        const pinned: PinnedModule[] = [];
        const definitions: Definition[] = [];
        const pin = (one: PinnedModule, definition: Definition): void => {
          pinned.push(one);
          definitions.push(definition);
        };
        const own = { workflow: "flow", revision: 1 };
        if (before > 0) pin({ name: "pre_scan_steps", hook: "pre_scan_steps", ...own }, flow);
        for (const [at, each] of all.entries()) {
          if (each.inline) pin({ name: `m${at}`, inline: at, ...own }, flow);
          else
            pin(
              { name: `m${at}`, workflow: `w${at}`, revision: 1 },
              definitionOf(`w${at}`, {
                steps: waitingSteps(each.module),
                hooks: hooksOf(each.before, each.after),
              }),
            );
        }
        if (after > 0) pin({ name: "post_scan_steps", hook: "post_scan_steps", ...own }, flow);
        const exclude_modules = all.flatMap(({ excluded }, at) => (excluded ? [`m${at}`] : [])).join(",");
        return buildProgram(pinned, definitions, { definition: flow, params: { exclude_modules } });
      }),
  );

/** Adds dependencies to the steps, if the shape has them. */
function waitingSteps({
  shapes,
  waitsFor,
}: {
  readonly shapes: readonly Shape[];
  readonly waitsFor?: readonly (readonly number[])[] | undefined;
}): Step[] {
  const steps = named(shapes);
  if (waitsFor === undefined) return steps;
  return steps.map((step, at) => ({
    ...step,
    depends_on: (waitsFor[at] ?? []).map((other) => steps[other]?.name ?? ""),
  }));
}

it("of a flow with hooks, inline modules, conditions and excluded modules ends like the plain run", () => {
  const ends = new Set<string>();
  fc.assert(
    fc.property(inWorlds(flows), ({ program, world, chances }) => {
      const state = endsAlike(program, world, chances, { lost: 15, twice: 25 });
      ends.add(state.status);
      const modules = program.modules.map(({ name }, at) => ({ name, ...state.modules[at] }));
      for (const [at, { after }] of program.modules.entries()) {
        // Nothing runs after a failed dependency, including hooks at the end.
        const failed = after.some((other) => {
          const { status, tolerated } = modules[other] ?? {};
          return status === "failed" && tolerated !== true;
        });
        if (failed) expect(modules[at]?.status).toBe("skipped");
      }
    }),
    { numRuns: 200 },
  );
  expect([...ends].toSorted()).toEqual(["completed", "failed"]);
});

it("with gotos to earlier steps ends like the plain run, and records steps once per round", () => {
  let rounds = 0;
  const loops = fc
    .array(shape, { minLength: 2, maxLength: 5 })
    .map((shapes) => graphOf({ steps: named(shapes) }));
  fc.assert(
    fc.property(inWorlds(loops), ({ program, world, chances }) => {
      const [module] = program.modules;
      const looping: Scenario = (request, jumps) => {
        const outcome = world(request, jumps);
        const { position, phase, parent } = request;
        if (position === undefined || parent !== null || phase !== "run" || jumps >= 12) return outcome;
        const chance = hash(`${request.key} ${jumps}`);
        if (outcome.status !== "completed" || chance % 4 === 0) return outcome;
        return { ...outcome, goto: module?.steps[chance % (position + 1)]?.name ?? "_end" };
      };
      rounds = Math.max(rounds, endsAlike(program, looping, chances, { lost: 15, twice: 25 }).jumps);
    }),
    { numRuns: 150 },
  );
  expect(rounds).toBeGreaterThan(5);
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

it("is final once it is cancelled, at any point", () => {
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
