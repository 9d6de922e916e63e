import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const text = await readFile(join(ROOT, "ARCHITECTURE.md"), "utf8");
const FOLDERS = ["functions", "lib", "localstack", "bin", "infra", "tests", "bench", "docs", "examples"];

/** The paths in backticks: names in angle brackets are placeholders. */
const pathsIn = (part: string): string[] =>
  [...part.matchAll(/`([\w.-]+(?:\/[\w.-]*)*)`/g)]
    .map(([, path = ""]) => path)
    .filter((path) => FOLDERS.includes(path.split("/")[0] ?? "") && path.includes("/"));

function isExported(source: string, name: string): boolean {
  const declared = new RegExp(
    `^export (?:async )?(?:function\\*?|const|class|interface|type) ${name}\\b`,
    "m",
  );
  return declared.test(source);
}

describe("ARCHITECTURE.md", () => {
  it("names paths that exist", () => {
    const paths = [...new Set(pathsIn(text))];
    expect(paths.length).toBeGreaterThan(80);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("names functions that the file before them exports", async () => {
    const named = [...text.matchAll(/`([\w./-]+\.ts)` \(((?:`\w+\(\)`(?:, )?)+)\)/g)];
    const missing: string[] = [];
    let count = 0;
    for (const [, path = "", names = ""] of named) {
      const source = await readFile(join(ROOT, path), "utf8");
      for (const [, name = ""] of names.matchAll(/`(\w+)\(\)`/g)) {
        count += 1;
        if (!isExported(source, name)) missing.push(`${path}: ${name}`);
      }
    }
    expect(missing).toEqual([]);
    // Every function on the page is in parentheses after its file.
    expect(count).toBe([...text.matchAll(/`\w+\(\)`/g)].length);
  });

  it("explains at least forty terms", () => {
    const glossary = text.slice(text.indexOf("## Glossary"));
    expect(glossary.match(/^\| (?!Term|---)/gm)?.length).toBeGreaterThanOrEqual(40);
  });
});
