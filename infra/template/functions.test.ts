import { describe, expect, it } from "vitest";
import * as z from "zod";
import { documentsService } from "../../lib/documents/service.ts";
import { type Consumer, defineConsumer } from "../../lib/events/consumer.ts";
import { defineRoute } from "../../lib/http/route.ts";
import type { ScannedRoute } from "../scan.ts";
import { consumerFunction, unsupportedMethodFunctions } from "./functions.ts";

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

describe("an executor that Lambda invokes", () => {
  it("has the script evaluator beside it, in one folder", () => {
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

  it("has memory for its scripts by default", () => {
    expect(functionOf({ executor: true }).memoryMb).toBe(1024);
    expect(functionOf({ executor: true, memoryMb: 2048 }).memoryMb).toBe(2048);
  });
});

describe("a consumer that does not run scripts in Lambda", () => {
  it.each([[{}], [{ executor: true, worker: true }]] as const)(
    "consists of its bundle only: %j",
    (fields) => {
      const { build, memoryMb } = functionOf(fields);
      expect(build.EntryPoints).toEqual(["executors/function.ts"]);
      expect(build).not.toHaveProperty("Loader");
      expect(memoryMb).toBeUndefined();
    },
  );
});

describe("methods that paths do not support", () => {
  const scanned = (path: string, method: "ANY" | "GET" | "POST", otherMethods?: true): ScannedRoute => ({
    entry: "functions/documents/gateway/not-found.ts",
    route: defineRoute({
      service: documentsService,
      operationId: "notFound",
      path,
      method,
      summary: "Else",
      tag: "Gateway",
      auth: "none",
      status: 200,
      response: z.never(),
      run: () => undefined as never,
      ...(otherMethods === undefined ? {} : { otherMethods }),
    }),
  });
  const paths = Array.from({ length: 21 }, (_, number) => `/things${String(number).padStart(2, "0")}`);

  it("reach the fallback route, once per path, in functions whose policies have room for them", () => {
    const functions = unsupportedMethodFunctions([
      scanned("/{proxy+}", "ANY", true),
      scanned("/any", "ANY"),
      ...paths.flatMap((path) => [scanned(path, "GET"), scanned(path, "POST")]),
    ]);
    const events = Object.entries(functions).map(([name, { Properties }]) => {
      const { Events, Handler } = Properties as {
        Events: Record<string, { Properties: { Path: string; Method: string } }>;
        Handler: string;
      };
      expect(Handler).toBe("not-found.handler");
      return [
        name,
        Object.values(Events).map((event) => `${event.Properties.Method} ${event.Properties.Path}`),
      ];
    });
    expect(events).toEqual([
      ["NotFound1Function", paths.slice(0, 20).map((path) => `ANY /api/v1.0${path}`)],
      ["NotFound2Function", [`ANY /api/v1.0${paths[20]}`]],
    ]);
  });

  it("have no function without a fallback route", () => {
    expect(unsupportedMethodFunctions([scanned("/{proxy+}", "ANY"), scanned("/things", "GET")])).toEqual({});
  });
});
