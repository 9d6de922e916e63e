import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

/** Digest of openapi.json without its prose: changes with the HTTP interface, not with a change of wording. */
const WIRE_FORMAT = "b0dcefebc2f69378da14c2b5878694b9373cafffaa168b61caef06fc9944928f";

const PROSE: ReadonlySet<string> = new Set(["description", "summary", "title"]);

it("openapi.json describes the released HTTP interface: update WIRE_FORMAT only with an intended change of the interface", async () => {
  const document: unknown = JSON.parse(
    await readFile(new URL("../../openapi.json", import.meta.url), "utf8"),
  );

  const digest = createHash("sha256")
    .update(JSON.stringify(withoutProse(document)))
    .digest("hex");

  expect(digest).toBe(WIRE_FORMAT);
});

/** Removes prose. Properties named `description` are kept: they are objects. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([key, of]) => !(PROSE.has(key) && typeof of === "string"));
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, of]) => [key, withoutProse(of)]),
  );
}
