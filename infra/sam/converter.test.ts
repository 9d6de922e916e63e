import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { baseBlob, inputBlob, outputBlob } from "../../lib/platform/conversions.ts";
import { openBlobs } from "../../lib/platform/embedded/blobs.ts";
import { bundle, functionBuilds } from "./bundles.ts";
import { findSizeIssues } from "./sizes.ts";

const NESTED = fileURLToPath(new URL("../stacks/documents.yaml", import.meta.url));

type Handler = (event: object, context?: object) => Promise<{ ok: boolean }>;

let folder: string;
let blobs: Awaited<ReturnType<typeof openBlobs>>;
let handler: Handler;
let issues: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-converter-"));
  const found = functionBuilds(await readFile(NESTED, "utf8"), NESTED).find(
    ({ logicalId }) => logicalId === "ConverterFunction",
  );
  if (found === undefined) throw new Error("the template has no converter function");
  issues = findSizeIssues(await bundle(found, folder));
  blobs = await openBlobs(folder);
  ({ handler } = (await import(pathToFileURL(join(folder, found.file)).href)) as { handler: Handler });
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function converted(
  from: string,
  to: string,
  bytes: Uint8Array | string,
): Promise<Uint8Array | undefined> {
  const id = `${from}-${to}`;
  await blobs.put(inputBlob(id), bytes);
  const { ok } = await handler({ id, from, to }, { weft: { blobs } });
  const made = await blobs.get(outputBlob(id));
  expect(made !== undefined).toBe(ok);
  return made;
}
const text = async (...asked: Parameters<typeof converted>): Promise<string> =>
  Buffer.from((await converted(...asked)) ?? []).toString();

it("converts without installed packages, as a server's converter process does, within its size limit", async () => {
  expect(issues).toEqual([]);
  const state = await converted("markdown", "yjs", "# Title\n\n- item\n\n[a](javascript:alert(1))");
  expect(await text("yjs", "markdown", state ?? "")).toContain("# Title\n\n* item\n");
  expect(await text("yjs", "html", state ?? "")).toMatch(/^<h1>Title<\/h1>(?!.*javascript)/);
  expect(JSON.parse(await text("plain", "json", "one\n\ntwo"))).toHaveLength(2);
  await blobs.put(inputBlob("edit"), "appended");
  await blobs.put(baseBlob("edit"), state ?? "");
  const edit = { id: "edit", from: "markdown", to: "update", append: true };
  expect(await handler(edit, { weft: { blobs } })).toEqual({ ok: true });
  expect(Buffer.from((await blobs.get(outputBlob("edit"))) ?? []).toString("latin1")).toContain("appended");
  expect(await converted("yjs", "json", "not a state")).toBeUndefined();
  const missing = { id: "nothing", from: "plain", to: "json" };
  await expect(handler(missing, { weft: { blobs } })).rejects.toThrow("content to convert is missing");
}, 60_000);
