import { describe, expect, it } from "vitest";
import { PlatformFault } from "./faults.ts";
import { type JsonLogOptions, jsonLog } from "./json-log.ts";

describe("the JSON log", () => {
  const lines = (options: JsonLogOptions, use: (log: ReturnType<typeof jsonLog>) => void): string[] => {
    const written: string[] = [];
    use(jsonLog({ clock: { now: () => 0 }, write: (line) => written.push(line), ...options }));
    return written;
  };
  const records = (options: JsonLogOptions, use: (log: ReturnType<typeof jsonLog>) => void): unknown[] =>
    lines(options, use).map((line) => JSON.parse(line));

  it("writes one line per record, whatever it contains", () => {
    const written = lines({}, (log) => log.info("a\nb\u001b[31m\u0007", { text: "c\r\nd" }));
    expect(written).toHaveLength(1);
    const line = written[0] ?? "";
    expect([...line].filter((character) => character < " ")).toEqual(["\n"]);
    expect(line.startsWith('{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"a\\nb')).toBe(true);
  });

  it("adds the log's fields to those of the record, and lets none override the built-in ones", () => {
    const [record] = records({}, (log) =>
      log.with({ run: "r", step: "a" }).warn("m", { step: "b", level: "x", time: 5 }),
    );
    expect(record).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      message: "m",
      run: "r",
      step: "b",
    });
  });

  it("drops records below its level", () => {
    const use = (log: ReturnType<typeof jsonLog>): void => {
      log.debug("1");
      log.info("2");
      log.warn("3");
      log.error("4");
    };
    expect(records({}, use)).toHaveLength(3);
    expect(records({ level: "error" }, use)).toMatchObject([{ message: "4" }]);
  });

  it("redacts texts at any depth, including names and errors", () => {
    const redact = (text: string): string => text.replaceAll("hidden", "***");
    const [line = ""] = lines({ redact }, (log) =>
      log.error("hidden", {
        a: { b: ["x hidden"] },
        hidden: 1,
        error: new Error("hidden", { cause: new Error("hidden") }),
      }),
    );
    expect(line).not.toContain("hidden");
    expect(JSON.parse(line)).toMatchObject({
      a: { b: ["x ***"] },
      error: { message: "***", cause: { message: "***" } },
    });
  });

  it("includes name, message and code of an error, and its stack at levels error and debug", () => {
    const error = new PlatformFault("throttled");
    const use = (log: ReturnType<typeof jsonLog>): void => log.warn("m", { error });
    expect(records({}, use)).toEqual([
      expect.objectContaining({
        error: { name: "PlatformFault", message: error.message, code: "throttled" },
      }),
    ]);
    const stack = [{ error: { stack: expect.stringContaining("PlatformFault") } }];
    expect(records({ level: "debug" }, use)).toMatchObject(stack);
    expect(records({}, (log) => log.error("m", { error }))).toMatchObject(stack);
  });

  it("stays bounded for long texts, deep and circular values, and unusual types", () => {
    const circular: Record<string, unknown> = {
      big: 1n,
      date: new Date(Number.NaN),
      bytes: new Uint8Array(3),
    };
    circular.self = circular;
    const [line = ""] = lines({}, (log) =>
      log.info("x".repeat(50_000), { text: "y".repeat(1_000_000), circular }),
    );
    expect(line.length).toBeLessThan(20_000);
    expect(JSON.parse(line)).toMatchObject({ circular: { big: "1", date: null, bytes: "[3 bytes]" } });
  });
});
