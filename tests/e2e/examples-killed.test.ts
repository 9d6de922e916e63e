import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { AssetRecord } from "../../lib/workflows/assets/list.ts";
import { makeRepository } from "./audited-repository.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const TOKEN = "0123456789abcdef-examples";

let folder: string;
let weft: TestServer | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-killed-"));
});
afterEach(async () => {
  await weft?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<TestServer> {
  weft = await startTestServer({
    dataDir: join(folder, "data"),
    env: { WEFT_ACCESS_TOKEN: TOKEN },
    files: { "secrets.env": `WEFT_TOKEN=${TOKEN}\n` },
  });
  return weft;
}

const values = (events: readonly { data: string }[]): string[] =>
  events.map(({ data }) => (JSON.parse(data) as { value: string }).value);

test("files each finding once although the server is killed meanwhile", async () => {
  const expected = [...(await makeRepository(join(folder, "audited")))].sort();
  const first = await start();
  for (const name of ["audit-repository", "file-findings"]) {
    await first.storeWorkflow(await readFile(new URL(`${name}.yaml`, EXAMPLES), "utf8"));
  }
  const params = { weft_url: `${first.url}/automation` };
  await first.startRun({ module: "audit-repository", target: join(folder, "audited"), params });
  await waitUntil("some of the findings to be filed", async () => {
    const events = await first.events({ topic: "custom.finding.filed" });
    return events.length >= 3;
  });
  await first.kill();

  const second = await start();
  const filed = await waitUntil("all findings to be filed", async () => {
    const events = await second.events({ topic: "custom.finding.filed" });
    return new Set(values(events)).size === expected.length && events;
  });
  const ended = async (status: string) =>
    (await second.get<Page<unknown>>(`/runs?workflow=file-findings&status=${status}`)).pagination.total;
  await waitUntil("the end of every run", async () => (await ended("completed")) >= expected.length);
  expect(await ended("failed")).toBe(0);
  expect([...new Set(values(filed))].sort()).toEqual(expected);

  const { data } = await second.get<Page<AssetRecord>>("/assets?limit=10000");
  expect(data.map(({ asset_value }) => asset_value).sort()).toEqual(expected);
  const file = join(folder, "data", "workspaces", data[0]!.workspace, "findings.jsonl");
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { value: string }).value).sort()).toEqual(expected);
});
