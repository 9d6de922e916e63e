import { expect, it } from "vitest";
import { inputParams } from "./input.ts";

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
])("%j gives %j", (expression, value) => {
  expect(inputParams({ name: expression }, event)).toEqual({ name: value });
});
