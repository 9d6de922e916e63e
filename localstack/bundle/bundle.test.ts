import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { buildBundle, checkDynamicImports } from "./build.ts";
import { bundlesIn, cacheOf, findBundle } from "./find.js";
import { copyOfCheckout, type Started, startCopy } from "./test-checkout.ts";

const UNTIL = { timeout: 25_000, interval: 50 };
const OK = JSON.stringify({ status: "ok" });

let copy: ReturnType<typeof copyOfCheckout>;
let cache: string;
let live: string;
let liveText: string;
const servers: Started[] = [];

beforeAll(() => {
  copy = copyOfCheckout();
  cache = cacheOf(copy.root);
  live = join(copy.root, "functions/workflows/health/live.ts");
  liveText = readFileSync(live, "utf8");
});
afterAll(() => copy.remove());
beforeEach(() => {
  writeFileSync(live, liveText);
  rmSync(join(copy.root, "node_modules/.cache"), { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(): Promise<Started> {
  const server = await startCopy(copy.root);
  servers.push(server);
  return server;
}

/** The bundle that a server loads from; undefined where it runs the sources. */
function bundleOf({ child }: Started): string | undefined {
  return bundlesIn(cache).find((folder) => existsSync(join(folder, `used-by-${child.pid}`)));
}

/** Waits for the bundle of the sources as they are. */
function made(): Promise<string> {
  return vi.waitFor(() => {
    const folder = findBundle(copy.root, cache);
    if (folder === undefined) throw new Error("no bundle yet");
    return folder;
  }, UNTIL);
}

function changeLive(from: string, to: string): void {
  const changed = liveText.replaceAll(from, to);
  expect(changed).not.toBe(liveText);
  writeFileSync(live, changed);
}

test("runs the sources the first time, and the bundle that is made of them the next", async () => {
  const first = await start();
  expect([first.health, bundleOf(first)]).toEqual([OK, undefined]);
  const folder = await made();
  const second = await start();
  expect([second.health, bundleOf(second)]).toEqual([OK, folder]);
  await second.stop();
  expect(bundleOf(second)).toBeUndefined();
});

test("never runs a bundle of a source that changed since, and replaces it unless a server loads from it", async () => {
  await buildBundle(copy.root, cache);
  const before = await start();
  const old = bundleOf(before);
  expect(old).toBeDefined();
  changeLive('"ok"', '"OK"');
  const changed = await start();
  expect([changed.health, bundleOf(changed)]).toEqual([OK.replace("ok", "OK"), undefined]);
  const folder = await made();
  expect(bundlesIn(cache).toSorted()).toEqual([old, folder].toSorted());
  await before.stop();
  const again = await start();
  expect([again.health, bundleOf(again)]).toEqual([OK.replace("ok", "OK"), folder]);
  writeFileSync(live, liveText);
  await buildBundle(copy.root, cache);
  expect(bundlesIn(cache)).not.toContain(old);
});

test("a source that was only touched is compared by what it holds, once", async () => {
  const folder = await buildBundle(copy.root, cache);
  writeFileSync(live, liveText);
  const manifest = join(folder, "manifest.json");
  const before = readFileSync(manifest, "utf8");
  expect(findBundle(copy.root, cache)).toBe(folder);
  expect(readFileSync(manifest, "utf8")).not.toBe(before);
  const { ino } = statSync(manifest);
  expect(findBundle(copy.root, cache)).toBe(folder);
  expect(statSync(manifest).ino).toBe(ino);
  rmSync(live);
  expect(findBundle(copy.root, cache)).toBeUndefined();
});

test("a bundle of another place, of another form or with a file cut off counts as none", async () => {
  const folder = await buildBundle(copy.root, cache);
  expect(findBundle(`${copy.root}/`, cache)).toBeUndefined();
  const manifest = join(folder, "manifest.json");
  const text = readFileSync(manifest, "utf8");
  for (const broken of ["", "{}", text.slice(0, -20), text.replace(/"form":\d+/, '"form":0')]) {
    writeFileSync(manifest, broken);
    expect(findBundle(copy.root, cache)).toBeUndefined();
  }
  writeFileSync(manifest, text);
  expect(findBundle(copy.root, cache)).toBe(folder);
  truncateSync(join(folder, "library.mjs"), 10);
  expect(findBundle(copy.root, cache)).toBeUndefined();
});

test("starts from the sources where a bundle cannot be loaded, and makes another", async () => {
  const folder = await buildBundle(copy.root, cache);
  const path = join(folder, "server.mjs");
  writeFileSync(path, "?".repeat(statSync(path).size));
  expect(findBundle(copy.root, cache)).toBe(folder);
  const server = await start();
  expect(server.health).toBe(OK);
  expect(await made()).not.toBe(folder);
});

test("starts from the sources where no bundle can be kept", async () => {
  writeFileSync(join(copy.root, "node_modules/.cache"), "no folder");
  const server = await start();
  expect([server.health, bundleOf(server)]).toEqual([OK, undefined]);
  await expect(buildBundle(copy.root, cache)).rejects.toThrow(/ENOTDIR|EEXIST/);
});

test("two made and two started at the same time get in no one's way", async () => {
  const folders = await Promise.all([buildBundle(copy.root, cache), buildBundle(copy.root, cache)]);
  expect(folders).toContain(findBundle(copy.root, cache));
  const both = await Promise.all([start(), start()]);
  expect(both.map(({ health }) => health)).toEqual([OK, OK]);
  expect(both.map(bundleOf)).not.toContain(undefined);
});

test("leaves nothing behind where a source cannot be bundled", async () => {
  mkdirSync(cache, { recursive: true });
  changeLive('from "zod"', 'from "no-such-package"');
  await expect(buildBundle(copy.root, cache)).rejects.toThrow("live.ts");
  expect(readdirSync(cache)).toEqual([]);
});

test("what a killed process left half made is removed, what another makes now is not", async () => {
  for (const name of [".old", ".new"]) mkdirSync(join(cache, name), { recursive: true });
  utimesSync(join(cache, ".old"), 1, 1);
  const folder = await buildBundle(copy.root, cache);
  expect(readdirSync(cache).toSorted()).toEqual([".new", basename(folder)]);
});

test("stacks in the log name the sources", async () => {
  changeLive("run:", 'run: () => { throw new Error("by the test"); }, never:');
  await buildBundle(copy.root, cache);
  const server = await start();
  expect(bundleOf(server)).toBeDefined();
  const stack = server.log().match(/"stack":"[^"]*by the test[^"]*"/)?.[0];
  const line = readFileSync(live, "utf8")
    .split("\n")
    .findIndex((text) => text.includes("by the test"));
  expect(stack).toContain(`functions/workflows/health/live.ts:${line + 1}:`);
  expect(stack).not.toContain(".mjs");
});

test("is not made where a module would lose its names in it", () => {
  const of = (format: "cjs" | "esm") => ({
    inputs: {
      "lib/a.ts": {
        bytes: 1,
        imports: [{ path: "node_modules/b/index.js", kind: "dynamic-import" as const }],
      },
      "node_modules/b/index.js": { bytes: 1, imports: [], format },
    },
  });
  expect(() => checkDynamicImports(of("cjs"))).toThrow(/lib\/a\.ts loads node_modules\/b\/index\.js/);
  expect(() => checkDynamicImports(of("esm"))).not.toThrow();
});
