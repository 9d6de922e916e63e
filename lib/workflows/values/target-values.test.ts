import { expect, it } from "vitest";
import { targetValues } from "./target-values.ts";

it.each([
  ["https://example.com/a", "url"],
  ["10.0.0.1", "ip"],
  ["fe80::1", "ip"],
  ["example.com", "domain"],
  ["/srv/hosts.txt", "file"],
  ["./hosts.txt", "file"],
  ["../hosts.txt", "unknown"],
  ["a b", "unknown"],
])("TargetType of %s is %s", (target, type) => {
  expect(targetValues(target).TargetType).toBe(type);
});
