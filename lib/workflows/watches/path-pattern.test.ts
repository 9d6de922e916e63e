import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readPattern } from "./path-pattern.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-pattern-"));
  await mkdir(join(folder, "ws"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const read = (path: string, roots: string[] = []) => readPattern(path, join(folder, "ws"), roots);

describe("a watch path", () => {
  it.each([
    ["in", "in", true],
    ["in", "in/a.txt", true],
    ["in/", "in/deep/er/a.txt", true],
    ["in", "inside.txt", false],
    ["in", "other/in/a.txt", false],
    ["in/*.txt", "in/a.txt", true],
    ["in/*.txt", "in/deep/a.txt", false],
    ["in/*.txt", "in/a.txt.part", false],
    ["in/?.txt", "in/ab.txt", false],
    ["in/**/*.txt", "in/a.txt", true],
    ["in/**/*.txt", "in/deep/er/a.txt", true],
    ["in/**/er/*.txt", "in/deep/er/a.txt", true],
    ["in/**/er/*.txt", "in/er/deep/a.txt", false],
    ["*/out.json", "job-1/out.json", true],
    ["**", "x/y/z", true],
    ["in/[a].txt", "in/a.txt", false],
    ["in/[a].txt", "in/[a].txt", true],
  ])("%s and %s: %s", async (path, file, matches) => {
    expect((await read(path)).matches(join(folder, "ws", file))).toBe(matches);
  });

  it.each(["/", "/etc", "/etc/passwd", "../other", "in/../../x", "/**", "/proc/*/environ"])(
    "%s is rejected: it is outside of the workspaces",
    async (path) => {
      await expect(read(path)).rejects.toThrow(/outside of the workspaces and of WATCH_ROOTS/);
    },
  );

  it("is rejected if a link leads outside, and accepted below an allowed root", async () => {
    await mkdir(join(folder, "elsewhere"));
    await symlink(join(folder, "elsewhere"), join(folder, "ws", "link"));
    await expect(read("link/*.txt")).rejects.toThrow(/outside/);
    const allowed = await read("link/*.txt", [join(folder, "elsewhere")]);
    expect(allowed.matches(join(folder, "elsewhere", "a.txt"))).toBe(true);
    await expect(read(`${folder}/elsewhere-too`, [join(folder, "elsewhere")])).rejects.toThrow(/outside/);
  });

  it("leads through its ancestor and descendant folders only", async () => {
    const pattern = await read("a/b/*.txt");
    const leads = (path: string) => pattern.leadsOn(join(folder, "ws", path));
    expect(["a", "a/b", "a/b/c"].map(leads)).toEqual([true, true, true]);
    expect(["b", "a/c", "ab", Array(20).fill("a/b").join("/")].map(leads)).toEqual(Array(4).fill(false));
  });

  it("is matched in at most pattern times path steps, with any number of stars", async () => {
    const hostile = await read(`${"*a".repeat(200)}*b`);
    const deep = await read(`${"**/a/".repeat(100)}b`);
    expect(hostile.matches(join(folder, "ws", "a".repeat(255)))).toBe(false);
    expect(deep.matches(join(folder, "ws", ...Array<string>(200).fill("a")))).toBe(false);
  });

  it.each([
    "*a*a*a*a*b",
    "(a+)+$",
    "{1000}{1000}",
    "*".repeat(4_000),
    `${"*a".repeat(2_000)}*b`,
    `${"**/".repeat(1_300)}b`,
    `${"**/*a/".repeat(600)}b`,
  ])("of %s is matched quickly", async (path) => {
    const { matches } = await read(`in/${path}`);
    const names = [
      `in/${"a".repeat(200)}`,
      `in/${"a/".repeat(100)}${"a".repeat(200)}`,
      `in/${"aa/".repeat(80)}c`,
    ];
    const start = process.cpuUsage().user;
    for (const name of names) matches(join(folder, "ws", name));
    expect(process.cpuUsage().user - start).toBeLessThan(500_000);
  });

  it("matches like the equivalent regular expression", async () => {
    const part = fc.constantFrom("a", "b", "ab", "*", "?", "a*", "*b", "**");
    const name = fc.constantFrom("a", "b", "ab", "aab", "c");
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.array(name, { minLength: 1, maxLength: 5 }),
        async (parts, names) => {
          fc.pre(parts.some((one) => /[*?]/.test(one)));
          const source = parts
            .map((one) =>
              one === "**" ? "(?:[^/]+/)*" : `${one.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}/`,
            )
            .join("");
          // A pattern starts with a folder: a file with the folder's name does not match.
          const begins = parts.slice(
            0,
            parts.findIndex((one) => /[*?]/.test(one)),
          );
          const wanted =
            names.join("/") !== begins.join("/") && new RegExp(`^${source}$`).test(`${names.join("/")}/`);
          expect((await read(parts.join("/"))).matches(join(folder, "ws", ...names))).toBe(wanted);
        },
      ),
      { numRuns: 300 },
    );
  });
});
