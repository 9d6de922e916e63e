import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { NewText, TextTerm } from "../../full-text.ts";
import { silentLog, temporaryFolder } from "../test-platform.ts";
import { type FullTextThread, type FullTextThreadOptions, fullTextThread, INDEX_FILE } from "./client.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let thread: FullTextThread;
let path: string;

const open = (options: Partial<FullTextThreadOptions> = {}): FullTextThread => {
  const defaults = {
    dataDir: folder.path,
    log: silentLog,
    observe: () => undefined,
    durable: async () => {},
  };
  thread = fullTextThread({ ...defaults, ...options });
  return thread;
};

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder.path, INDEX_FILE);
});
afterEach(async () => {
  await thread.close();
  await folder.remove();
});

const text = (body: string, id: string = randomUUID()): NewText => ({
  id,
  version: randomUUID(),
  data: Buffer.from(`data of ${body}`),
  words: { title: [], headings: [], body: [body], comments: [] },
});
const words = (...all: readonly string[]): TextTerm[] => [{ words: all, isPrefix: false }];

it("runs from the first call until it is idle, and keeps what was stored", async () => {
  const { port } = open({ idleMs: 50 });
  expect(thread.isRunning).toBe(false);
  const stored = text("kept words");
  expect(await port.put(stored, undefined)).toBe(true);
  expect(await port.find(words("kept"), [stored])).toEqual(["body"]);
  await expect.poll(() => thread.isRunning).toBe(false);
  const more = text("more words");
  expect(await port.put(more, undefined)).toBe(true);
  expect(await port.find(words("words"), [more, stored])).toEqual(["body", "body"]);
});

it("finds texts that it had forgotten to free memory", async () => {
  const { port } = open();
  const [first, second] = [text("one word"), text("another word")];
  await port.put(first, undefined);
  expect(await port.find(words("word"), [first])).toEqual(["body"]);
  const searching = port.find(words("word"), [first]);
  await Promise.all([thread.releaseMemory(), port.put(second, undefined)]);
  expect(await searching).toEqual(["body"]);
  expect(await port.find(words("word"), [first, second])).toEqual(["body", "body"]);
});

it("stores what was put before it was closed, and nothing afterwards", async () => {
  const { port } = open();
  const put = port.put(text("last"), undefined);
  await nextTurn();
  await thread.close();
  expect(await put).toBe(true);
  await expect(port.put(text("late"), undefined)).rejects.toMatchObject({ code: "unavailable" });
});

it("replaces an index that is no database by an empty one", async () => {
  await writeFile(path, "no database at all ".repeat(1000));
  const warnings: string[] = [];
  const { port } = open({ log: { ...silentLog, warn: (message) => warnings.push(message) } });
  const stored = text("indexed again");
  expect(await port.get([stored.id])).toEqual([]);
  expect(await port.put(stored, undefined)).toBe(true);
  expect(warnings).toEqual(["the full-text index was damaged: the documents are indexed again"]);
});

it("forgets the row numbers of an index that was replaced", async () => {
  const { port } = open({ idleMs: 50 });
  const [first, second] = [text("first text"), text("second text")];
  await port.put(first, undefined);
  await port.put(second, undefined);
  expect(await port.find(words("text"), [first, second])).toEqual(["body", "body"]);
  await expect.poll(() => thread.isRunning).toBe(false);
  await writeFile(path, "no database at all ".repeat(1000));
  expect(await port.put(second, undefined)).toBe(true);
  expect(await port.find(words("second"), [first, second])).toEqual([undefined, "body"]);
});

it("rejects with the fault of the storage, which it reports", async () => {
  const codes: string[] = [];
  const { port } = open({ dataDir: join(folder.path, "missing"), observe: ({ code }) => codes.push(code) });
  await expect(port.get(["one"])).rejects.toThrow();
  const other = new DatabaseSync(path);
  other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  const { port: locked } = open({ observe: ({ code }) => codes.push(code) });
  await expect(locked.get(["one"])).rejects.toMatchObject({ code: "unavailable" });
  expect(codes).toContain("unavailable");
  other.close();
  expect(await locked.get(["one"])).toEqual([]);
});
