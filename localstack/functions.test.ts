import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AnyHandler, createFunctions } from "./functions.ts";
import type { TemplateFunction } from "./template.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "weft-functions-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const fn = (over: Partial<TemplateFunction> = {}): TemplateFunction => ({
  logicalId: "One",
  entry: "one.mjs",
  handlerExport: "handler",
  timeoutSeconds: 5,
  memoryMb: 128,
  bodyLimitBytes: undefined,
  worker: false,
  routes: [],
  sources: [],
  ...over,
});

const request = { requestId: "r1" };

interface Context {
  readonly signal: AbortSignal;
  readonly weft: unknown;
  readonly functionName: string;
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

test("loads a function by path and export once, on its first invocation", async () => {
  const functions = createFunctions({ root, deps: { n: 1 } });
  await writeFile(
    join(root, "one.mjs"),
    "let calls = 0; globalThis.weftLoads = (globalThis.weftLoads ?? 0) + 1;\n" +
      "export const handler = async (event, context) => [event, context.weft, context.functionName, ++calls, globalThis.weftLoads];\n",
  );
  const results = await Promise.all(["a", "b"].map((event) => functions.start(fn(), event, request).result));
  expect(results).toEqual([
    ["a", { n: 1 }, "One", 1, 1],
    ["b", { n: 1 }, "One", 2, 1],
  ]);
});

test("a function that cannot be loaded fails its own invocations only", async () => {
  await writeFile(join(root, "one.mjs"), "export const handler = async () => 'fine';\n");
  await writeFile(join(root, "broken.mjs"), "throw new Error('no start');\n");
  const functions = createFunctions({ root, deps: {} });
  const start = (over: Partial<TemplateFunction>) => functions.start(fn(over), {}, request).result;
  await expect(start({ logicalId: "Broken", entry: "broken.mjs" })).rejects.toThrow("no start");
  await expect(start({ logicalId: "Missing", entry: "missing.mjs" })).rejects.toThrow("missing.mjs");
  await expect(start({ logicalId: "Other", handlerExport: "other" })).rejects.toThrow(
    "does not export other",
  );
  expect(await start({})).toBe("fine");
});

function running(handler: (context: Context) => unknown, over: Partial<TemplateFunction> = {}) {
  const load = async (): Promise<AnyHandler> => (_event, context) => handler(context as Context);
  return createFunctions({ root, deps: {}, load }).start(fn(over), {}, request);
}

test("ends an invocation at its timeout, and aborts the signal shortly before", async () => {
  const order: string[] = [];
  const { result } = running(
    ({ signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => order.push("told"));
      }),
    { timeoutSeconds: 0.1 },
  );
  await expect(result).rejects.toMatchObject({
    code: "invocation_timeout",
    message: "One exceeded its timeout of 0.1 s",
  });
  expect(order).toEqual(["told"]);
});

test("a handler that returns when its signal aborts keeps its result", async () => {
  const { result } = running(
    ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve("reported"));
      }),
    { timeoutSeconds: 0.2 },
  );
  expect(await result).toBe("reported");
});

test("a worker has no timeout and can be aborted", async () => {
  const { result, abort } = running(
    ({ signal, getRemainingTimeInMillis }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve([signal.reason, typeof getRemainingTimeInMillis]));
      }),
    { worker: true, timeoutSeconds: 0.01 },
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  abort("stop");
  expect(await result).toEqual(["stop", "function"]);
});

test("a handler that reads its signal late finds it aborted", async () => {
  const asked = Promise.withResolvers<void>();
  const { result, abort } = running(async (context) => {
    await asked.promise;
    return [context.signal.aborted, context.signal.reason];
  });
  abort("gone");
  asked.resolve();
  expect(await result).toEqual([true, "gone"]);
});
