import { describe, expect, it } from "vitest";
import { type Consumer, defineConsumer } from "../../lib/events/consumer.ts";
import { consumerFunction } from "./functions.ts";

function functionOf(fields: Partial<Consumer>) {
  const consumer = defineConsumer({
    name: "function",
    summary: "Executes",
    queue: { maxReceiveCount: 5, batchSize: 1, concurrency: 4 },
    timeoutSeconds: 30,
    run: async () => undefined,
    ...fields,
  });
  const scanned = { entry: "functions/executors/function.ts", consumer };
  const { FunctionFunction } = consumerFunction(scanned, ["FunctionQueue"]);
  const { Metadata, Properties } = FunctionFunction!;
  const { BuildProperties } = Metadata as { BuildProperties: Record<string, unknown> };
  return { build: BuildProperties, memoryMb: (Properties as { MemorySize?: number }).MemorySize };
}

describe("an executor that Lambda calls", () => {
  it("has what evaluates scripts beside it, all in one folder", () => {
    expect(functionOf({ executor: true }).build).toMatchObject({
      EntryPoints: [
        "executors/function.ts",
        expect.stringMatching(/scripts-pool\.ts$/),
        expect.stringMatching(/script-worker\.ts$/),
        expect.stringMatching(/library-without-files\.ts$/),
        expect.stringMatching(/quickjs\.wasm$/),
        expect.stringMatching(/jq\.wasm$/),
      ],
      EntryNames: "[name]",
      Loader: [".wasm=copy"],
    });
  });

  it("has memory for its scripts, where it does not say how much", () => {
    expect(functionOf({ executor: true }).memoryMb).toBe(1024);
    expect(functionOf({ executor: true, memoryMb: 2048 }).memoryMb).toBe(2048);
  });
});

describe("a consumer that runs no scripts in Lambda", () => {
  it.each([[{}], [{ executor: true, worker: true }]] as const)("is its bundle alone: %j", (fields) => {
    const { build, memoryMb } = functionOf(fields);
    expect(build.EntryPoints).toEqual(["executors/function.ts"]);
    expect(build).not.toHaveProperty("Loader");
    expect(memoryMb).toBeUndefined();
  });
});
