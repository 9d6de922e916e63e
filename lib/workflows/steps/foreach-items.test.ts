import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ForeachStep } from "../schema/types.ts";
import { storeItems } from "./foreach-items.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-items-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LINES = 60_000;
const WIDTH = 100;

/** Returns the read position of the file, bytes, from the file descriptor of the process that has it open. */
function position(path: string): number {
  for (const fd of readdirSync("/proc/self/fd")) {
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`) === path)
        return Number(/^pos:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1]);
    } catch {
      // The file was closed meanwhile.
    }
  }
  return Number.NaN;
}

it("the items of a file are stored a thousand at a time, without reading ahead", async () => {
  const path = join(folder, "lines");
  const line = (index: number): string => String(index).padStart(WIDTH - 1, "0");
  writeFileSync(path, `${Array.from({ length: LINES }, (_, index) => line(index)).join("\n")}\n`);
  const chunks: { size: number; ahead: number }[] = [];
  let laid = 0;
  const put = async (_key: string, text: string): Promise<void> => {
    const items = JSON.parse(text) as string[];
    expect(items[0]).toBe(line(laid));
    laid += items.length;
    // A slow store: reading ahead would fill memory.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    chunks.push({ size: items.length, ahead: position(path) - laid * WIDTH });
  };
  const attempt = {
    deps: { blobs: { put } },
    run: { run_id: "r" },
    request: { key: "each" },
    workspace: folder,
  };
  const step = { type: "foreach", name: "each", input: "lines", variable: "v" };
  const scope = { values: {}, trusted: new Set<string>(), loopVariables: [] };
  expect(await storeItems(attempt as never, scope, step as unknown as ForeachStep)).toBe(LINES);
  expect(chunks.map(({ size }) => size)).toEqual(Array.from({ length: LINES / 1_000 }, () => 1_000));
  const ahead = chunks.map((chunk) => chunk.ahead).filter((bytes) => !Number.isNaN(bytes));
  expect(ahead.length).toBeGreaterThan(10);
  expect(Math.max(...ahead)).toBeLessThan(1_000_000);
});
