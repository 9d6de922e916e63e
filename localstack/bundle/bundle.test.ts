import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildBundle, checkDynamicImports } from "./build.ts";
import { bundleFolder, ensureBundle, isCurrent } from "./open.js";
import { copyOfCheckout, type Started, startCopy } from "./test-checkout.ts";

const OK = JSON.stringify({ status: "ok" });
const CHANGED = JSON.stringify({ status: "OK" });
const DAY_MS = 86_400_000;

let copy: ReturnType<typeof copyOfCheckout>;
let folder: string;
/** A bundle of the unchanged copy. */
let built: string;
let live: string;
let liveText: string;
const servers: Started[] = [];

beforeAll(async () => {
  copy = copyOfCheckout();
  built = join(copy.root, "built");
  folder = bundleFolder(copy.root);
  live = join(copy.root, "functions/workflows/health/live.ts");
  liveText = readFileSync(live, "utf8");
  await buildBundle(copy.root, folder);
  cpSync(folder, built, { recursive: true });
});
afterAll(() => copy.remove());
beforeEach(() => {
  writeFileSync(live, liveText);
  rmSync(join(copy.root, ".git"), { recursive: true, force: true });
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

/** Puts the bundle of the unchanged copy into its place, as if it was just built. */
function placeBundle(): void {
  cpSync(built, folder, { recursive: true });
  const description = JSON.parse(readFileSync(join(built, "bundle.json"), "utf8"));
  // The copy has just been changed back.
  writeFileSync(join(folder, "bundle.json"), JSON.stringify({ ...description, startedAt: Date.now() + 1 }));
}

/** Makes the copy a Git checkout, as far as a start looks at it. */
const asCheckout = (): unknown => mkdirSync(join(copy.root, ".git"));

function changeLive(from: string, to: string): void {
  const changed = liveText.replaceAll(from, to);
  expect(changed).not.toBe(liveText);
  writeFileSync(live, changed);
}

test("a start builds the bundle if there is none, and runs it", async () => {
  expect(isCurrent(copy.root)).toBe(false);
  expect((await start()).health).toBe(OK);
  expect(isCurrent(copy.root)).toBe(true);
});

test("in a Git checkout, a start builds the bundle again if a source is newer", async () => {
  asCheckout();
  placeBundle();
  expect(isCurrent(copy.root)).toBe(true);
  const before = await start();
  changeLive('"ok"', '"OK"');
  expect((await start()).health).toBe(CHANGED);
  expect(isCurrent(copy.root)).toBe(true);
  // The server that runs keeps its code.
  expect(before.health).toBe(OK);
  rmSync(live);
  expect(isCurrent(copy.root)).toBe(false);
});

test("an installation runs the bundle that it built, whatever happens to the sources", async () => {
  placeBundle();
  changeLive('"ok"', '"OK"');
  expect((await start()).health).toBe(OK);
});

test("a bundle of another folder, or without its description, is built again", async () => {
  placeBundle();
  const path = join(folder, "bundle.json");
  const text = readFileSync(path, "utf8");
  for (const broken of ["", "{}", text.slice(0, -20), text.replace(copy.root, "/elsewhere")]) {
    writeFileSync(path, broken);
    expect(isCurrent(copy.root)).toBe(false);
  }
  await ensureBundle(copy.root);
  expect(isCurrent(copy.root)).toBe(true);
});

test("the server runs from its sources if no bundle can be written, and says so", async () => {
  writeFileSync(join(copy.root, "node_modules/.cache"), "not a folder");
  const server = await start();
  expect(server.health).toBe(OK);
  expect(server.log()).toContain("cannot build the server bundle, running from the sources");
});

test("builds and starts at the same time do not disturb each other", async () => {
  await Promise.all([buildBundle(copy.root, folder), buildBundle(copy.root, folder)]);
  expect(isCurrent(copy.root)).toBe(true);
  rmSync(folder, { recursive: true });
  const both = await Promise.all([start(), start()]);
  expect(both.map(({ health }) => health)).toEqual([OK, OK]);
});

test("a source that cannot be bundled leaves the previous bundle as it is", async () => {
  placeBundle();
  const before = readdirSync(folder).toSorted();
  changeLive('from "zod"', 'from "no-such-package"');
  await expect(buildBundle(copy.root, folder)).rejects.toThrow("live.ts");
  expect(readdirSync(folder).toSorted()).toEqual(before);
});

test("parts of earlier bundles are removed after a week", async () => {
  mkdirSync(folder, { recursive: true });
  for (const name of ["old.mjs", "new.mjs"]) writeFileSync(join(folder, name), "");
  const old = Date.now() / 1000 - (8 * DAY_MS) / 1000;
  utimesSync(join(folder, "old.mjs"), old, old);
  await buildBundle(copy.root, folder);
  expect([existsSync(join(folder, "old.mjs")), existsSync(join(folder, "new.mjs"))]).toEqual([false, true]);
});

test("stacks in the log name the sources", async () => {
  changeLive("run:", 'run: () => { throw new Error("by the test"); }, never:');
  const server = await start();
  const stack = server.log().match(/"stack":"[^"]*by the test[^"]*"/)?.[0];
  const line = readFileSync(live, "utf8")
    .split("\n")
    .findIndex((text) => text.includes("by the test"));
  expect(stack).toContain(`functions/workflows/health/live.ts:${line + 1}:`);
  expect(stack).not.toContain(".mjs");
});

test("a CommonJS module that would lose its exports in the bundle is rejected", () => {
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
