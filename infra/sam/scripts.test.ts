import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ScriptOutcome, ScriptRequest } from "../../lib/platform/scripts.ts";
import { bundle, functionBuilds } from "./bundles.ts";

const NESTED = fileURLToPath(new URL("../stacks/workflows.yaml", import.meta.url));
const FUNCTION = "FunctionFunction";
const OPENER = fileURLToPath(new URL("../../lib/app/aws.ts", import.meta.url));
/** Scripts as in the function's bundle: built with the same options, into the same folder. */
const PROBE = `
import { openExecutorDeps } from ${JSON.stringify(OPENER)};
const { scripts } = await openExecutorDeps();
const running = new Map();
process.on("message", async ({ id, request, abort }) => {
  if (abort === true) return running.get(id)?.abort();
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const outcome = await scripts.run({ ...request, signal: controller.signal });
    process.send({ id, outcome, peakKb: process.resourceUsage().maxRSS });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
const { handler } = await import(new URL("./function.mjs", import.meta.url).href);
process.send({ id: 0, outcome: typeof handler });
`;

interface ChildResponse {
  readonly id: number;
  readonly outcome?: unknown;
  readonly peakKb?: number;
  readonly error?: string;
}

let folder: string;
let child: ChildProcess;
let handlerType: unknown;
let stderr = "";
let lastId = 0;
const waiting = new Map<number, (answer: ChildResponse) => void>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-scripts-"));
  const found = functionBuilds(await readFile(NESTED, "utf8"), NESTED).find(
    ({ logicalId }) => logicalId === FUNCTION,
  )!;
  await bundle(found, folder);
  const { entryPoints: _, ...options } = found.options;
  const stdin = { contents: PROBE, resolveDir: folder, sourcefile: "probe.ts" };
  await build({ ...options, stdin, outdir: folder });
  child = fork(join(folder, "stdin.mjs"), {
    cwd: folder,
    execArgv: [],
    env: { WEFT_STACK: "weft", WEFT_QUEUES: "conduct.fifo", AWS_REGION: "eu-west-1", AWS_SECRET: "hidden" },
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
  child.stderr!.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ready = new Promise<ChildResponse>((resolve, reject) => {
    waiting.set(0, resolve);
    child.once("exit", () => reject(new Error(`the child ended: ${stderr}`)));
  });
  child.on("message", (answer: ChildResponse) => waiting.get(answer.id)?.(answer));
  handlerType = (await ready).outcome;
});
afterAll(async () => {
  if (child !== undefined && child.exitCode === null && child.kill()) await once(child, "exit");
  await rm(folder, { recursive: true, force: true });
});

interface PendingScript {
  readonly response: Promise<ChildResponse>;
  abort(): void;
}

function startScript(code: string, options: Partial<ScriptRequest> = {}): PendingScript {
  lastId += 1;
  const id = lastId;
  const request: ScriptRequest = {
    code,
    variables: {},
    cwd: folder,
    env: { WEFT_STEP: "a" },
    timeoutMs: 10_000,
    isolate: "run-1",
    token: "run-1/a/1",
    ...options,
  };
  const answered = new Promise<ChildResponse>((resolve) => waiting.set(id, resolve));
  child.send({ id, request });
  return { response: answered, abort: () => void child.send({ id, abort: true }) };
}

async function runScript(code: string, options?: Partial<ScriptRequest>): Promise<ScriptOutcome> {
  const { outcome, error } = await startScript(code, options).response;
  if (error !== undefined) throw new Error(error);
  return outcome as ScriptOutcome;
}

describe("a built function in an empty folder", () => {
  it("has its handler and everything that scripts need, without packages", async () => {
    expect(handlerType).toBe("function");
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(["function.mjs", "jq.wasm", "quickjs.wasm", "script-worker.mjs"]),
    );
    const { resolve } = createRequire(join(folder, "function.mjs"));
    for (const name of ["quickjs-wasi", "jq-wasm", "re2js", "zod"]) expect(() => resolve(name)).toThrow(name);
  });

  it.each([
    ["6 * 7", 42],
    ["trim('  a ') + toUpperCase('b')", "aB"],
    ["jq('{\"a\": [1, 2, 3]}', '.a | add')", 6],
    ["jq({ a: { b: 'c' } }, '.a.b')", "c"],
    ["regex_match('^[a-z]+\\\\d{2}$', 'abc12')", true],
    ["Promise.resolve(x).then((n) => n + 1)", 3],
    ["os_getenv('WEFT_STEP') + os_getenv('AWS_SECRET')", "a"],
  ])("evaluates %s", async (code, value) => {
    expect(await runScript(code, { variables: { x: 2 } })).toEqual({ ok: true, value, events: [], logs: [] });
  });

  it("returns the events and log lines of a script, even if it throws", async () => {
    const code =
      "generate_event('ws', 'custom.x', 'test', 'json', { a: 1 }); log_warn('careful'); throw new Error('x')";
    expect(await runScript(code)).toEqual({
      ok: false,
      reason: "failed",
      message: "Error: x",
      events: [{ workspace: "ws", topic: "custom.x", source: "test", data_type: "json", data: { a: 1 } }],
      logs: [{ level: "warn", message: "careful" }],
    });
  });

  it.each([
    ["for (;;);"],
    ["for (;;) { try { for (;;); } catch {} }"],
    ["sleep(60)"],
    ["jq('1', 'def f: f; f')"],
  ])("stops %s; the next script runs", async (code) => {
    const started = performance.now();
    expect(await runScript(code, { timeoutMs: 500 })).toMatchObject({ ok: false, reason: "timeout" });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await runScript("1 + 1")).toMatchObject({ value: 2 });
  });

  it("ends a script that is cancelled", async () => {
    const { response: answered, abort } = startScript("for (;;);", { timeoutMs: 0 });
    abort();
    expect((await answered).outcome).toMatchObject({ ok: false, reason: "aborted" });
  });

  it("fails a script that exceeds its memory limit, before the function exceeds its own", async () => {
    const before = (await startScript("1").response).peakKb!;
    for (const code of ["const a = []; for (;;) a.push({ x: 1 })", "'x'.repeat(2 ** 28)"]) {
      const { outcome, peakKb } = await startScript(code).response;
      expect(outcome).toMatchObject({ ok: false, reason: "memory" });
      expect(peakKb! - before).toBeLessThan(160 * 1024);
    }
    expect(await runScript("1 + 1")).toMatchObject({ value: 2 });
  });

  it("isolates runs from each other, and the scripts of one run", async () => {
    const poison =
      "var left = 1; globalThis.more = 2; Array.prototype.poison = 1; String.prototype.trim = () => 'x'; 1";
    await runScript(poison, { isolate: "run-a" });
    const code = "[typeof left, typeof more]";
    expect(await runScript(code, { isolate: "run-a" })).toMatchObject({ value: ["undefined", "undefined"] });
    for (const isolate of ["run-b", "run-c", "run-d"]) {
      expect(await runScript("[[].poison, ' y '.trim(), typeof left]", { isolate })).toMatchObject({
        value: [null, "y", "undefined"],
      });
    }
  });

  it("evaluates several scripts concurrently; an endless loop does not block the others", async () => {
    const loop = runScript("for (;;);", { isolate: "loop", timeoutMs: 3_000 });
    const others = Array.from({ length: 12 }, (_, n) => runScript(`${n} * 2`, { isolate: `run-${n}` }));
    const first = await Promise.race([loop, ...others]);
    expect(first).toMatchObject({ ok: true });
    expect(await Promise.all(others)).toMatchObject(others.map((_, n) => ({ value: n * 2 })));
    expect(await loop).toMatchObject({ reason: "timeout" });
  });

  it.each([
    ["read_file('function.mjs')", "read_file"],
    ["fileExists('/')", "fileExists"],
    ["save_content('x', 'never')", "save_content"],
    ["exec_cmd('echo hi')", "exec_cmd"],
    ["jq_from_file('a.json', '.')", "jq_from_file"],
  ])("rejects %s: it needs a worker", async (code, name) => {
    expect(await runScript(code)).toEqual({
      ok: false,
      reason: "failed",
      message: `Error: ${name} requires a worker, because it uses files or commands`,
      events: [],
      logs: [],
    });
  });

  it("prints nothing itself", () => {
    expect(stderr).toBe("");
  });
});
