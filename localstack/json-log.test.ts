import { expect, test } from "vitest";
import { jsonLog } from "./json-log.ts";

function logged(use: (log: ReturnType<typeof jsonLog>) => void, redact?: (line: string) => string) {
  const lines: string[] = [];
  use(
    jsonLog({
      write: (line) => lines.push(line),
      level: "info",
      now: () => 0,
      ...(redact === undefined ? {} : { redact }),
    }),
  );
  return lines;
}

test("writes one JSON object a line, with the fields of its parents", () => {
  const lines = logged((log) => log.with({ a: 1 }).with({ b: 2 }).info("hello\nyou", { c: 3n }));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: "1970-01-01T00:00:00.000Z",
    level: "info",
    message: "hello\nyou",
    a: 1,
    b: 2,
    c: "3",
  });
});

test("tells errors with their code and cause", () => {
  const error = new Error("outer", { cause: Object.assign(new Error("inner"), { code: "E" }) });
  const [line] = logged((log) => log.error("failed", { error }));
  expect(JSON.parse(line ?? "").error).toMatchObject({
    name: "Error",
    message: "outer",
    stack: expect.stringContaining("outer"),
    cause: { message: "inner", code: "E" },
  });
});

test("drops records below its level, cuts long texts and stands what is no JSON", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const lines = logged((log) => {
    log.debug("no");
    log.info("long", { text: "x".repeat(20_000) });
    log.warn("circle", { circle });
  });
  expect(lines).toHaveLength(2);
  expect(lines[0]?.length).toBeLessThan(9_000);
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ message: "circle", unprintable: expect.any(String) });
});

test("takes secrets out of whole lines", () => {
  const lines = logged(
    (log) => log.info("token hunter2", { token: "hunter2" }),
    (line) => line.replaceAll("hunter2", "***"),
  );
  expect(lines[0]).not.toContain("hunter2");
});
