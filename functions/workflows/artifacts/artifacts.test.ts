import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvents } from "#lib/events/publish.ts";
import { readAll } from "#lib/events/read-all.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { storeWorkflow } from "#lib/testing/test-workflows.ts";
import { listEntriesTable, listPartitions } from "#lib/workflows/lists/table.ts";
import { startRun } from "#lib/workflows/runs/start.ts";
import { handler as assets } from "../assets/list.ts";
import { handler as events } from "../event-logs/list.ts";
import { handler as ofRun } from "../runs/artifacts.ts";
import { handler as stats } from "../stats/get.ts";
import { handler as workspaces } from "../workspaces/list.ts";
import { handler as names } from "../workspaces/names.ts";
import { handler as download } from "./download.ts";
import { handler as list } from "./list.ts";

let test: TestDeps;
let root: string;
beforeEach(async () => {
  test = await testDeps({
    script: async () => ({
      value: 1,
      events: [
        {
          workspace: "",
          topic: "asset.discovered",
          source: "httpx",
          data_type: "asset",
          data: { host: "a" },
          effect: "asset",
        },
        {
          workspace: "",
          topic: "x",
          source: "",
          data_type: "",
          data: { counter: "urls", add: 3 },
          effect: "totals",
        },
        {
          workspace: "",
          topic: "x",
          source: "",
          data_type: "",
          data: { artifact_path: "out/r.md", artifact_type: "report", size_bytes: 3, line_count: 1 },
          effect: "artifact",
        },
      ],
    }),
  });
  root = join(test.folder, "workspaces", "w");
  await mkdir(join(root, "out"), { recursive: true });
  await writeFile(join(root, "out", "r.md"), "ok\n");
});
afterEach(() => test.close());

const register = (...paths: readonly string[]) =>
  emitEvents(
    test.deps,
    paths.map((artifact_path) => ({
      topic: "a",
      source: "",
      effect: "artifact",
      workspace: "w",
      data: { artifact_path },
    })),
  );
const listed = async (query: Record<string, string> = {}) => (await call(test.deps, list, { query })).json;
const get = (path: string, workspace = "w") =>
  call(test.deps, download, { params: { workspace }, query: { artifact_path: path } });

it.each([
  ["list", list],
  ["download", download],
  ["of a run", ofRun],
  ["workspaces", workspaces],
  ["names", names],
  ["stats", stats],
])("%s requires a token", async (_name, handler) => {
  const answer = await call(test.deps, handler, { token: null, params: { workspace: "w", id: "1" } });
  expect(answer.status).toBe(401);
});

it("artifacts of a run's script are stored once, in the run's workspace, despite repeated messages", async () => {
  await storeWorkflow(
    test.deps,
    "name: one\nsteps:\n  - {name: a, type: function, function: 'db_import_asset(1)'}\n",
  );
  const { run_id } = await startRun(test.deps, { module: "one", target: "t", workspace: "w" });
  await test.drain();
  for (const name of ["artifacts", "workspaces"] as const)
    for (const pk of listPartitions(name, "pending"))
      expect(
        await readAll(test.deps, listEntriesTable, { pk }),
        `what waits for the index of ${name}`,
      ).toEqual([]);
  expect((await call(test.deps, assets)).json.data).toMatchObject([
    { asset_value: "a", source: "httpx", workspace: "w" },
  ]);
  const log = (await call(test.deps, events, { query: { topic: "asset.discovered" } })).json;
  expect(log.data).toMatchObject([
    { name: "httpx-asset-found", run_id, workspace: "w", workflow_name: "one", data_type: "asset" },
  ]);
  expect((await call(test.deps, ofRun, { params: { id: run_id } })).json.data).toMatchObject([
    { name: "r.md", artifact_path: "out/r.md", artifact_type: "report", content_type: "md", run_id },
  ]);
  expect((await call(test.deps, workspaces)).json).toMatchObject({
    data: [
      {
        name: "w",
        total_assets: 1,
        total_urls: 3,
        run_workflow: "one",
        last_run: "2026-03-02T10:00:00.000Z",
      },
    ],
    pagination: { total: 1 },
  });
  expect((await call(test.deps, names)).json).toEqual({ data: ["w"], count: 1 });
  expect((await call(test.deps, stats)).json).toMatchObject({
    workflows: { total: 1, modules: 1 },
    runs: { total: 1, completed: 1 },
    workspaces: { total: 1 },
    assets: { total: 1 },
  });
  expect((await call(test.deps, ofRun, { params: { id: "none" } })).status).toBe(404);
});

it("artifacts are identified by path, searched, and verified on request", async () => {
  await register("out/r.md", "out", "gone.txt", "out/r.md");
  expect(await listed()).toMatchObject({ pagination: { total: 3 } });
  expect((await listed({ search: "R.MD" })).data).toMatchObject([{ artifact_path: "out/r.md" }]);
  const found = (await listed({ verify_exist: "true", workspace: "w" })).data as Record<string, unknown>[];
  expect(
    Object.fromEntries(found.map((one) => [one.artifact_path, [one.path_exists, one.path_is_dir]])),
  ).toEqual({
    "out/r.md": [true, false],
    out: [true, true],
    "gone.txt": [false, false],
  });
  expect(await listed()).not.toHaveProperty("data.0.path_exists");
});

describe("a file of a workspace", () => {
  it("is sent unchanged, as an attachment", async () => {
    const bytes = Buffer.from([0, 255, 1, 2]);
    await writeFile(join(root, "b.html"), bytes);
    const answer = await get("b.html");
    expect([answer.status, answer.bytes]).toEqual([200, bytes]);
    expect(answer.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment; filename=\"b.html\"; filename*=UTF-8''b.html",
      "x-content-type-options": "nosniff",
    });
  });

  it("is streamed with constant memory", async () => {
    await writeFile(join(root, "large"), Buffer.alloc(3_000_000, 7));
    expect((await get("large")).bytes).toHaveLength(3_000_000);
  });

  it.each([
    "../../etc/passwd",
    "..",
    "out/../../x",
    "/etc/passwd",
    "..\\..\\x",
    "a\u0000b",
    "C:/x",
    "out//r.md",
    "./out",
    `${"a".repeat(300)}`,
    "out/r.md\n",
  ])("rejects the path %j", async (path) => {
    const { status, json } = await get(path);
    expect([status, json]).toEqual([
      400,
      { error: true, message: "artifact_path: must be a path below the workspace" },
    ]);
  });

  it.each(["..%2f..%2fetc%2fpasswd", "%252e%252e", "none", "out", "con", "．．/x"])(
    "returns 404 for a missing file: %s",
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );

  it.each(["..", "../..", "w/../..", "/", "none", "."])("is in no workspace called %j", async (workspace) => {
    expect((await get("out/r.md", workspace)).status).toBe(404);
  });

  it("is never reached through a link, also not one in its path, and a pipe is not opened", async () => {
    const outside = join(test.folder, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "secret"), "secret");
    await symlink(join(outside, "secret"), join(root, "link"));
    await symlink(outside, join(root, "folder"));
    await symlink(join(root, "out", "r.md"), join(root, "inner"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const path of ["link", "folder/secret", "inner", "pipe"])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    await register("link", "folder", "pipe");
    for (const one of (await listed({ verify_exist: "true" })).data) expect(one.path_exists).toBe(false);
    await symlink(outside, join(test.folder, "workspaces", "linked"));
    expect((await get("secret", "linked")).status).toBe(404);
    await rm(outside, { recursive: true });
  });

  it("requires a path", async () => {
    const answer = await call(test.deps, download, { params: { workspace: "w" } });
    expect([answer.status, answer.json.message]).toEqual([400, "query.artifact_path: is required"]);
  });
});
