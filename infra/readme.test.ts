import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseDefinition } from "../lib/workflows/schema/parse.ts";
import { endpointsTable, pages, replaceParts, settingsTable } from "./readme.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

describe("the README and the guides", () => {
  it("contain the tables that are generated from the code", async () => {
    const found = await pages(ROOT);
    for (const { before, after } of found) expect(before).toBe(after);
    const text = found.map(({ after }) => after).join("");
    for (const row of [
      "| `PORT` | `3000` |",
      "| `POST /automation/events/emit` |",
      "| `file_exists(path)` |",
    ]) {
      expect(text).toContain(row);
    }
  });

  it("are short: the README has fewer than 150 lines", async () => {
    const readme = await readFile(join(ROOT, "README.md"), "utf8");
    expect(readme.split("\n").length).toBeLessThan(150);
  });

  it("link only to files that exist", async () => {
    const decisions = (await readdir(join(ROOT, "infra/decisions"))).map((name) => `infra/decisions/${name}`);
    for (const path of [
      "README.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "CHANGELOG.md",
      "ARCHITECTURE.md",
      "docs/workflows.md",
      ...decisions,
    ]) {
      const text = await readFile(join(ROOT, path), "utf8");
      for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
        expect.soft(existsSync(join(ROOT, dirname(path), target)), `${path}: ${target}`).toBe(true);
      }
    }
  });

  it("list every decision with its title in the index", async () => {
    const folder = join(ROOT, "infra/decisions");
    const names = (await readdir(folder)).filter((name) => name !== "README.md").sort();
    const titles = names.map(async (name) => {
      const [title = ""] = (await readFile(join(folder, name), "utf8")).split("\n");
      return `- [${name.slice(0, 4)}](${name}) ${title.replace(/^# /, "")}`;
    });
    const index = await readFile(join(folder, "README.md"), "utf8");
    expect(
      index
        .split("\n")
        .filter((line) => line.startsWith("- "))
        .sort(),
    ).toEqual(await Promise.all(titles));
  });

  it("show valid workflows", async () => {
    const guide = await readFile(join(ROOT, "docs/workflows.md"), "utf8");
    const shown = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
    expect(shown.length).toBeGreaterThan(0);
    for (const yaml of shown) expect(parseDefinition(yaml)).toMatchObject({ ok: true, warnings: [] });
  });

  it("show settings without a default and endpoints without a token", () => {
    expect(settingsTable().split("\n")).toContainEqual(
      expect.stringMatching(/^\| `WEFT_ACCESS_TOKEN` \| {2}\| \S/),
    );
    const paths = {
      "/health": { get: { summary: "Up | down", security: [] } },
      "/x": { post: { summary: "Makes x" } },
    };
    expect(endpointsTable({ paths }).split("\n").slice(2)).toEqual([
      "| `GET /health` | Up \\| down (no token) |",
      "| `POST /x` | Makes x |",
    ]);
  });

  it("keep the text outside the markers", () => {
    const text = "a\n<!-- one -->\nold\n<!-- /one -->\nb <!-- two --><!-- /two -->\n";
    const once = replaceParts(text, { one: "1", two: "$&" });
    expect(once).toBe("a\n<!-- one -->\n\n1\n\n<!-- /one -->\nb <!-- two -->\n\n$&\n\n<!-- /two -->\n");
    expect(replaceParts(once, { one: "1", two: "$&" })).toBe(once);
    expect(() => replaceParts(text, { three: "3" })).toThrow("<!-- three -->");
  });
});
