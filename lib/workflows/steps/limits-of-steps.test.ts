import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import type { RemoteMachine } from "../remote/machine.ts";
import { getRun, listSteps } from "../runs/read.ts";
import { startBody, startRun } from "../runs/start.ts";
import { parseDefinition } from "../schema/parse.ts";
import { STEP_TYPES, type StepType } from "../schema/types.ts";

let open: TestDeps;
let server: Server;
let origin: string;
/** Whether the server never responds. */
let silent: boolean;
/** How many times the work of a step was done, and how many times it fails before it succeeds. */
let tries: number;
let failures: number;
/** Timeouts of commands and scripts, milliseconds. */
let given: number[];
/** Duration of a command by the test clock, milliseconds. */
let takes: number;

const LLM = { choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }] };
const settings = { volumeRoots: [], keysDir: "/nowhere", knownHostsPath: "/nowhere", hostNetwork: false };

/** Counts the work, and returns whether it fails this time. */
function works(timeoutMs?: number): boolean {
  tries += 1;
  if (timeoutMs !== undefined) given.push(timeoutMs);
  return tries <= failures;
}

beforeEach(async () => {
  silent = false;
  tries = 0;
  failures = 0;
  given = [];
  takes = 0;
  server = createServer((request, response) => {
    request.resume();
    const fails = works();
    if (!silent)
      response.writeHead(fails ? 500 : 200, { "content-type": "application/json" }).end(JSON.stringify(LLM));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const machine = async (): Promise<RemoteMachine> => ({
    run: async ({ timeoutMs, stdoutPath, stderrPath }) => {
      const exitCode = works(timeoutMs) ? 3 : 0;
      await Promise.all([writeFile(stdoutPath, ""), writeFile(stderrPath, "")]);
      const bytes = { stdoutBytes: 0, stderrBytes: 0 };
      return { exitCode, signal: null, timedOut: false, aborted: false, durationMs: 1, ...bytes };
    },
    close: async () => undefined,
  });
  open = await testDeps({
    remote: {
      settings: { ...settings, dockerHost: undefined },
      docker: machine,
      ssh: machine,
      close: async () => undefined,
    },
    settings: { LLM_BASE_URL: `${origin}/v1`, LLM_MODEL: "m", LLM_API_KEY: "k" },
    command: async ({ timeoutMs }) => {
      open.clock.advance(takes);
      return works(timeoutMs) ? { exitCode: 3 } : {};
    },
    script: async ({ timeoutMs }) => {
      if (works(timeoutMs)) throw Object.assign(new Error("script failed"), { code: "" });
      return { value: 1 };
    },
  });
});
afterEach(async () => {
  await open.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const CHILD = "{name: child, type: bash, command: x MORE}";
/** A step of each type, with additional fields. */
const STEPS: Readonly<Record<StepType, string>> = {
  bash: "type: bash, command: x",
  function: 'type: function, function: "1"',
  "parallel-steps": `type: parallel-steps, parallel_steps: [${CHILD}]`,
  foreach: `type: foreach, input: [one], variable: v, step: ${CHILD}`,
  "remote-bash": "type: remote-bash, command: x, step_runner: docker, step_runner_config: {image: a}",
  http: 'type: http, url: "ORIGIN/x"',
  llm: "type: llm, messages: [{role: user, content: hi}], llm_config: {max_retries: 1}",
};
const CONTAINERS: ReadonlySet<string> = new Set(["foreach", "parallel-steps"]);

const yaml = (type: StepType, own: string, child = ""): string =>
  `name: m\nparams: [{name: limit, default: 2s}]\nsteps:\n  - {name: s, ${STEPS[type].replace("ORIGIN", origin).replace(" MORE", child)}${own}}\n`;

async function run(text: string): Promise<string> {
  await storeWorkflow(open.deps, text);
  const { run_id } = await startRun(open.deps, startBody.parse({ module: "m", target: "t" }));
  await open.drain();
  return run_id;
}

describe("a timeout", () => {
  const forms = [
    ["2", 2_000],
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ['"{{limit}}"', 2_000],
  ] as const;
  const bounded = STEP_TYPES.filter((type) => type !== "http" && type !== "llm");

  it.each(bounded.flatMap((type) => forms.map(([form, ms]) => [type, form, ms] as const)))(
    "of a step of type %s, given as %s, bounds its work",
    async (type, form, milliseconds) => {
      const id = await run(yaml(type, `, timeout: ${form}`));
      expect(await getRun(open.deps, id)).toMatchObject({ status: "completed", error_message: "" });
      expect(given).toEqual([milliseconds]);
    },
  );

  it.each(
    (["http", "llm"] as const).flatMap((type) =>
      ["1", "300ms", '"{{limit}}"'].map((form) => [type, form] as const),
    ),
  )("of a step of type %s, given as %s, ends a request without a response", async (type, form) => {
    silent = true;
    const id = await run(yaml(type, `, timeout: ${form}`).replace("default: 2s", "default: 200ms"));
    expect(await getRun(open.deps, id)).toMatchObject({
      status: "failed",
      error_message: expect.stringMatching(/timed out|did not respond within/),
    });
  });

  it.each(["foreach", "parallel-steps"] as const)(
    "of a %s expires if its children take too long",
    async (type) => {
      takes = 3_000;
      const id = await run(yaml(type, ", timeout: 2"));
      expect((await getRun(open.deps, id)).error_message).toMatch(/timed out after 2000 ms/);
    },
  );

  it.each(STEP_TYPES)(
    "of a step of type %s fails the step if it is not a duration, and 0 means none",
    async (type) => {
      const id = await run(yaml(type, ', timeout: "{{limit}}x"'));
      expect((await getRun(open.deps, id)).error_message).toBe("timeout: not a duration: 2sx");
      expect(tries).toBe(0);
      const unbounded = await run(yaml(type, ", timeout: 0"));
      expect(await getRun(open.deps, unbounded)).toMatchObject({ status: "completed" });
    },
  );
});

it("the timeout of a foreach's step applies to each item, and may depend on the item", async () => {
  takes = 3_000;
  const each =
    "{name: s, type: foreach, input: [10s, 20s, 30s], variable: v, step: {name: c, type: bash, command: x, timeout: TIME}}";
  const text = `name: m\nsteps:\n  - ${each}\n`;
  const id = await run(text.replace("TIME", "4s"));
  expect(await getRun(open.deps, id)).toMatchObject({ status: "completed" });
  expect(given).toEqual([4_000, 4_000, 4_000]);
  given.length = 0;
  await run(text.replace("TIME", '"[[v]]"'));
  expect(given).toEqual([10_000, 20_000, 30_000]);
  given.length = 0;
  const around = await run(text.replace("variable: v", "variable: v, timeout: 5s").replace("TIME", "4s"));
  expect(given).toEqual([4_000, 2_000]);
  expect((await getRun(open.deps, around)).error_message).toMatch(/timed out/);
  const wrong = await run(text.replace("TIME", '"[[v]]x"'));
  expect((await getRun(open.deps, wrong)).error_message).toMatch(/not a duration: 10sx/);
});

it("a request may take as long as its step allows", async () => {
  const seen: number[] = [];
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (milliseconds) => {
    seen.push(milliseconds);
    return timeout.call(AbortSignal, milliseconds);
  };
  try {
    await run(yaml("http", ", timeout: 2m"));
    await run(yaml("http", ""));
  } finally {
    AbortSignal.timeout = timeout;
  }
  expect(seen.filter((one) => one >= 30_000)).toEqual([120_000, 30_000]);
});

describe("a retry", () => {
  const RETRY = ", retry: {max_attempts: 3, delay: 1s, backoff: 2}";
  const leaves = STEP_TYPES.filter((type) => !CONTAINERS.has(type));

  /** Waits for two retries: one second, then two. */
  async function passWaits(): Promise<number[]> {
    const seen = [tries];
    for (const milliseconds of [999, 1, 1_999, 1]) {
      open.clock.advance(milliseconds);
      await open.tick();
      seen.push(tries);
    }
    return seen;
  }

  it.each(leaves)("of a step of type %s repeats it with increasing delays", async (type) => {
    failures = 2;
    const id = await run(yaml(type, RETRY));
    expect(await passWaits()).toEqual([1, 1, 2, 2, 3]);
    expect(await getRun(open.deps, id)).toMatchObject({ status: "completed" });
    expect(await listSteps(open.deps, id)).toMatchObject([{ status: "completed", attempt: 3 }]);
  });

  it.each(leaves)("of a step of type %s ends with its last try", async (type) => {
    failures = 9;
    const id = await run(yaml(type, RETRY));
    expect((await passWaits()).at(-1)).toBe(3);
    expect(await getRun(open.deps, id)).toMatchObject({ status: "failed" });
  });

  it.each(["foreach", "parallel-steps"] as const)(
    "is rejected on a %s and accepted on its children",
    async (type) => {
      const refused = parseDefinition(yaml(type, RETRY));
      expect(refused.ok ? [] : refused.errors.map(({ message }) => message)).toEqual([
        expect.stringContaining("is only allowed on steps without nested steps"),
      ]);
      failures = 2;
      const id = await run(yaml(type, "", RETRY));
      await passWaits();
      expect(tries).toBe(3);
      expect(await getRun(open.deps, id)).toMatchObject({ status: "completed" });
    },
  );
});
