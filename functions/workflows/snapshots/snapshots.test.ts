import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import { ZipFile } from "yazl";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { importSnapshot } from "#lib/workflows/snapshots/import.ts";
import { handler as importAssets } from "../assets/import.ts";
import { handler as assets } from "../assets/list.ts";
import { handler as vulnerabilities } from "../vulnerabilities/list.ts";
import { handler as workspaces } from "../workspaces/list.ts";
import { handler as remove } from "./delete.ts";
import { handler as exportHandler } from "./export.ts";
import { handler as importHandler } from "./import.ts";
import { handler as list } from "./list.ts";

let test: TestDeps;
let other: TestDeps;
beforeEach(async () => {
  [test, other] = await Promise.all([testDeps(), testDeps()]);
});
afterEach(() => Promise.all([test.close(), other.close()]));

const folderOf = ({ folder }: TestDeps, name = "w") => join(folder, "workspaces", name);
const made = async (body: Record<string, unknown> = { workspace: "w" }) =>
  call(test.deps, exportHandler, { body });
const bring = (body: Uint8Array | undefined, query: Record<string, string> = {}, headers = {}) =>
  call(other.deps, importHandler, { body: body ?? "", query, headers });
const rows = async ({ deps }: TestDeps, handler: typeof list) => (await call(deps, handler)).json;

const NUCLEI =
  '{"template-id":"t","info":{"name":"Bad","severity":"high"},"host":"a.example","matched-at":"x"}';

async function fill(): Promise<void> {
  await mkdir(join(folderOf(test), "out"), { recursive: true });
  await writeFile(join(folderOf(test), "out", "hosts.txt"), "a\nb\n");
  await writeFile(join(folderOf(test), "zero"), "");
  await symlink("/etc/passwd", join(folderOf(test), "link"));
  await call(test.deps, importAssets, { body: NUCLEI, query: { workspace: "w" } });
}

async function namesIn(zip: Buffer): Promise<string[]> {
  const names: string[] = [];
  for await (const { fileName } of (await fromBufferPromise(zip, { lazyEntries: true })).eachEntry())
    names.push(fileName);
  return names.sort();
}

/** A zip of these entries; names are written unchanged. */
async function zipOf(entries: Readonly<Record<string, string | Buffer>>, mode = 0o100644): Promise<Buffer> {
  const zip = new ZipFile();
  const real = new Map<string, string>();
  for (const [index, [name, content]] of Object.entries(entries).entries()) {
    const stand = `${String(index).padStart(2, "0")}`.padEnd(Buffer.byteLength(name), "_");
    real.set(stand, name);
    zip.addBuffer(Buffer.from(content), stand, { mode });
  }
  zip.end();
  const bytes = await buffer(Readable.from(zip.outputStream));
  for (const [stand, name] of real)
    for (let at = bytes.indexOf(stand); at >= 0; at = bytes.indexOf(stand, at + 1)) bytes.write(name, at);
  return bytes;
}

it.each([
  ["list", list],
  ["export", exportHandler],
  ["import", importHandler],
  ["delete", remove],
])("%s requires a token", async (_name, handler) => {
  expect((await call(test.deps, handler, { token: null, body: {}, params: { name: "x" } })).status).toBe(401);
});

it("packs and unpacks many files, empty, small and large, with their content", async () => {
  const root = folderOf(test);
  const contents = new Map<string, string>();
  for (let index = 0; index < 1_500; index += 1) {
    const size = index % 500 === 7 ? 200_000 : index % 3 === 0 ? 0 : index;
    contents.set(`d${index % 7}/f${index}`, `${index}`.padEnd(size, "x").slice(0, size));
  }
  for (let folder = 0; folder < 7; folder += 1) await mkdir(join(root, `d${folder}`), { recursive: true });
  await Promise.all([...contents].map(([path, text]) => writeFile(join(root, path), text)));
  const out = await made();
  expect(out.status).toBe(200);
  const zip = Buffer.from(out.bytes);
  expect((await namesIn(zip)).filter((name) => !name.startsWith(".weft-snapshot/"))).toEqual(
    [...contents.keys()].sort(),
  );
  const back = await bring(zip, { workspace: "w" });
  expect([back.status, back.json.files_count]).toEqual([200, contents.size]);
  const read = await Promise.all(
    [...contents.keys()].map(
      async (path) => [path, await readFile(join(folderOf(other), path), "utf8")] as const,
    ),
  );
  expect(new Map(read)).toEqual(contents);
});

it("exports a workspace as a zip and imports it elsewhere unchanged, each record with its event", async () => {
  await fill();
  const out = await made();
  expect(out.status).toBe(200);
  expect(out.headers).toMatchObject({
    "content-type": "application/zip",
    "x-snapshot-size": String(out.bytes.length),
    "content-disposition": expect.stringContaining('filename="w_20260302T100000Z.zip"'),
  });
  expect(await namesIn(out.bytes)).toEqual([
    ".weft-snapshot/artifacts.jsonl",
    ".weft-snapshot/assets.jsonl",
    ".weft-snapshot/snapshot.json",
    ".weft-snapshot/vulnerabilities.jsonl",
    "out/hosts.txt",
    "zero",
  ]);
  const { status, json } = await bring(out.bytes);
  expect([status, json]).toEqual([
    200,
    {
      message: "Snapshot imported",
      workspace: "w",
      data_source: "imported",
      files_count: 2,
      records_count: 2,
    },
  ]);
  expect(await readFile(join(folderOf(other), "out", "hosts.txt"), "utf8")).toBe("a\nb\n");
  expect((await readdir(folderOf(other))).sort()).toEqual(["out", "zero"]);
  expect(await readdir(join(other.folder, "workspaces"))).toEqual(["w"]);
  expect((await rows(other, assets)).data).toMatchObject([{ asset_value: "a.example", source: "nuclei" }]);
  expect((await rows(other, vulnerabilities)).data).toMatchObject([{ vuln_title: "Bad", severity: "high" }]);
  expect((await rows(other, workspaces)).data).toMatchObject([
    { name: "w", data_source: "imported", total_assets: 1, vuln_high: 1 },
  ]);
  expect((await readLog(other.deps)).records.map(({ topic }) => topic).sort()).toEqual([
    "asset.discovered",
    "vuln.found",
  ]);
});

it("replaces an existing workspace only with force, without duplicating its records", async () => {
  await fill();
  const { bytes } = await made();
  await bring(bytes);
  await writeFile(join(folderOf(other), "own"), "x");
  const refused = await bring(bytes);
  expect([refused.status, refused.json.message]).toEqual([
    409,
    "The workspace already exists: set force to replace its files",
  ]);
  expect(existsSync(join(folderOf(other), "own"))).toBe(true);
  expect((await bring(bytes, { force: "true" })).status).toBe(200);
  expect(existsSync(join(folderOf(other), "own"))).toBe(false);
  expect((await rows(other, assets)).pagination.total).toBe(1);
  expect((await readLog(other.deps)).total).toBe(2);
  expect((await bring(bytes, { workspace: "copy", skip_db: "true" })).json).toMatchObject({
    workspace: "copy",
    records_count: 0,
  });
});

it("stores snapshots, imports them by name, and deletes them", async () => {
  await fill();
  await made();
  const { json } = await call(test.deps, list);
  const name = "w_20260302T100000Z.zip";
  expect(json).toMatchObject({ count: 1, path: "snapshots/", data: [{ name, size: expect.any(Number) }] });
  const back = await call(test.deps, importHandler, { query: { name, workspace: "again" } });
  expect(back.json).toMatchObject({ workspace: "again", files_count: 2 });
  expect((await call(test.deps, remove, { params: { name } })).json).toEqual({ message: "Snapshot deleted" });
  expect((await call(test.deps, remove, { params: { name } })).status).toBe(404);
  expect((await call(test.deps, importHandler, { query: { name } })).status).toBe(404);
  for (const odd of ["../x.zip", "x", "a/b.zip", "..%2fx.zip"])
    expect((await call(test.deps, remove, { params: { name: odd } })).status).toBe(400);
});

it("rejects workspaces whose name contains control characters", async () => {
  const message = "workspace: must not contain control characters";
  const named = await zipOf({ a: "1" });
  expect((await bring(named, { workspace: "a\u001bb" })).json.message).toBe(`query.${message}`);
  expect((await made({ workspace: "a\u001bb" })).json.message).toBe(message);
  const manifest = await zipOf({ ".weft-snapshot/snapshot.json": JSON.stringify({ workspace: "a\u0000b" }) });
  expect((await bring(manifest)).status).toBe(400);
  expect((await rows(other, workspaces)).pagination.total).toBe(0);
});

it("an import that exceeds the time limit imports nothing, reports it, and leaves nothing behind", async () => {
  await fill();
  const { bytes } = await made();
  const archive = new Uint8Array(bytes);
  const how = { archive, workspace: "w", force: false, filesOnly: false, maxMs: 0 };
  await expect(importSnapshot(other.deps, how)).rejects.toMatchObject({
    code: "payload_too_large",
    message: "snapshot: takes longer than 0 s; nothing was imported",
  });
  expect(existsSync(join(other.folder, "workspaces"))).toBe(false);
  expect(await readdir(join(other.folder, "snapshots-unfinished"))).toEqual([]);
  await importSnapshot(other.deps, { ...how, maxMs: 60_000 });
  expect(await readdir(join(other.folder, "workspaces"))).toEqual(["w"]);
  expect(await readdir(join(other.folder, "snapshots-unfinished"))).toEqual([]);
});

it.each([
  ["small", 40],
  ["large", 100_000],
])("rejects a %s file with corrupted bytes", async (_size, size) => {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.alloc(size, "a"), "file", { compress: false });
  zip.end();
  const bytes = await buffer(Readable.from(zip.outputStream));
  bytes[60] = 0x62;
  const { status, json } = await bring(bytes, { workspace: "w" });
  expect([status, json.message]).toEqual([400, expect.stringContaining("checksum")]);
  expect(existsSync(join(other.folder, "workspaces"))).toBe(false);
});

it("accepts a file in a form", async () => {
  const form = new FormData();
  form.set("file", new Blob([await zipOf({ a: "1" })]), "s.zip");
  const request = new Response(form);
  const body = new Uint8Array(await request.arrayBuffer());
  const headers = { "content-type": request.headers.get("content-type") ?? "" };
  expect((await bring(body, { workspace: "w" }, headers)).json).toMatchObject({ files_count: 1 });
  const answer = await bring(Buffer.from("no form"), { workspace: "w" }, headers);
  expect([answer.status, answer.json.message]).toEqual([400, "body: must be a form"]);
});

describe("a hostile archive", () => {
  const nothingCame = async (): Promise<void> => {
    expect(existsSync(join(other.folder, "workspaces"))).toBe(false);
    expect((await readLog(other.deps)).total).toBe(0);
    expect((await rows(other, workspaces)).pagination.total).toBe(0);
  };

  it.each([
    "../x",
    "../../../../tmp/weft-evil",
    "/etc/weft",
    "a/../../x",
    "a/./b",
    "..\\x",
    "C:/x",
    "a//b",
    "a\u0000b",
  ])("does not escape by the name %j", async (name) => {
    const { status, json } = await bring(await zipOf({ fine: "1", [name]: "evil" }), { workspace: "w" });
    expect(status).toBe(400);
    expect(json.message).toMatch(/^snapshot: /);
    await nothingCame();
  });

  it("imports no links", async () => {
    const { status } = await bring(await zipOf({ link: "/etc/passwd" }, 0o120777), { workspace: "w" });
    expect(status).toBe(400);
    await nothingCame();
  });

  it("imports no duplicate files, also with different case", async () => {
    expect((await bring(await zipOf({ same: "1", SAME: "2" }), { workspace: "w" })).status).toBe(400);
    await nothingCame();
  });

  it("is not unpacked if it would become too large", async () => {
    const bomb = await zipOf({ bomb: Buffer.alloc(20_000_000) });
    expect(bomb.length).toBeLessThan(100_000);
    const { status, json } = await bring(bomb, { workspace: "w" });
    expect([status, json.message]).toEqual([413, "snapshot: exceeds the limits of a snapshot"]);
    await nothingCame();
  });

  it("is not trusted on its declared sizes", async () => {
    const bomb = await zipOf({ bomb: Buffer.alloc(20_000_000) });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(20_000_000);
    for (let at = bomb.indexOf(size); at >= 0; at = bomb.indexOf(size, at + 1)) bomb.writeUInt32LE(10, at);
    expect((await bring(bomb, { workspace: "w" })).status).toBe(400);
    await nothingCame();
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["no zip", Buffer.from("this is no zip at all, but long enough to be one")],
    ["an end alone", Buffer.from("504b0506000000000000ffff0000000000000000ffff", "hex")],
  ])("that is %s is rejected", async (_name, bytes) => {
    expect((await bring(bytes, { workspace: "w" })).status).toBe(400);
    await nothingCame();
  });

  it("with invalid records imports nothing", async () => {
    for (const [name, content] of [
      [".weft-snapshot/assets.jsonl", "[]"],
      [".weft-snapshot/vulnerabilities.jsonl", "{"],
    ] as const)
      expect((await bring(await zipOf({ [name]: content }), { workspace: "w" })).status).toBe(400);
    await nothingCame();
  });

  it("requires a target workspace", async () => {
    const { status, json } = await bring(await zipOf({ a: "1" }));
    expect([status, json.message]).toEqual([
      400,
      "workspace: is required, because the archive does not name one",
    ]);
    await nothingCame();
  });

  it("stays in the workspaces folder, whatever their names", async () => {
    expect((await bring(await zipOf({ a: "1" }), { workspace: "../../evil" })).status).toBe(200);
    const names = await readdir(join(other.folder, "workspaces"));
    expect(names).toHaveLength(1);
    expect(names[0]).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
  });
});

it("rejects an export of a missing workspace", async () => {
  for (const workspace of ["none", "../..", "/"]) expect((await made({ workspace })).status).toBe(404);
  expect((await made({})).status).toBe(400);
});
