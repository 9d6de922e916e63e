import { expect, it } from "vitest";
import { inputParams } from "./trigger-input.ts";

const event = {
  topic: "custom.x",
  data: { a: { b: [10, { c: "deep" }] }, empty: null, no: false, "with-dash": 1 },
};

it.each([
  ["event_data.a.b.1.c", "deep"],
  ["event_data.a.b", '[10,{"c":"deep"}]'],
  ["event_data.no", "false"],
  ["event_data.empty", ""],
  ["event_data.with-dash", "1"],
  ["event_data.nothing.below", ""],
  ["event.topic", "custom.x"],
  [" event.topic ", "custom.x"],
  ["event_data", "event_data"],
  ["just text", "just text"],
  ["event.topic and more", "event.topic and more"],
  ["event_data.constructor", ""],
  ["event_data.__proto__.polluted", ""],
  ["event.toString", ""],
  ["{{event.data.a.b.0}} of {{event.topic}}", "10 of custom.x"],
  ["{{ broken", ""],
])("%j gives %j", async (expression, value) => {
  const values = { event, event_data: event.data };
  const script = () => Promise.reject(new Error("no script"));
  expect(await inputParams({ name: expression }, values, script, () => undefined)).toEqual({ name: value });
});

it.each(["trim(event_data.no)", "event.topic.toUpperCase()", "fn()"])("%j is a script", async (call) => {
  const scripts: string[] = [];
  const values = { event, event_data: event.data };
  const params = await inputParams(
    { name: call },
    values,
    async (source) => {
      scripts.push(source);
      return { made: 1 };
    },
    () => undefined,
  );
  expect([params, scripts]).toEqual([{ name: '{"made":1}' }, [call]]);
});

it("reports a value that cannot be computed, and leaves it empty", async () => {
  const reported: unknown[] = [];
  const fails = () => Promise.reject(new Error("no such function"));
  const params = await inputParams({ a: "fn(1)", b: "event.topic" }, { event }, fails, (name, error) => {
    reported.push(name, String(error));
  });
  expect([params, reported]).toEqual([{ a: "", b: "custom.x" }, ["a", "Error: no such function"]]);
});
