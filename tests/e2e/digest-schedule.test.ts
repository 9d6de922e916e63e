import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openEmbeddedApp } from "../../lib/app/local.ts";
import type { EventRecord } from "../../lib/events/log/list.ts";
import { silentLog } from "../../lib/platform/embedded/test-platform.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { template } from "../../lib/testing/test-deps.ts";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { startPlatform } from "../../localstack/platform.ts";

const TEMPLATE = fileURLToPath(new URL("../../template.yaml", import.meta.url));
const DIGEST = new URL("../../examples/daily-digest.yaml", import.meta.url);
const TOKEN = "0123456789abcdef-digest";
const DAY_MS = 24 * 60 * 60 * 1000;

/** Starts a platform in this process whose clock starts at noon and is moved by the test. */
async function startAtNoon() {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-digest-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  let ahead = Date.parse("2026-03-01T12:00:00Z") - Date.now();
  const opened = await openEmbeddedApp({
    dataDir,
    resources: template.resources,
    config: readConfig({ WEFT_DATA_DIR: dataDir, WEFT_ACCESS_TOKEN: TOKEN }),
    log: silentLog,
    schedulerEnabled: true,
    clock: { now: () => Date.now() + ahead },
  });
  const platform = await startPlatform({
    template,
    root: dirname(TEMPLATE),
    opened,
    log: silentLog,
    host: "127.0.0.1",
    port: 0,
  });
  onTestFinished(() => platform.close());
  return {
    dataDir,
    advance: async (milliseconds: number) => {
      ahead += milliseconds;
      await opened.poke();
    },
    request: async <Body>(method: string, path: string, body?: string): Promise<Body> => {
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/yaml" };
      const response = await fetch(`${platform.url}/automation${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      expect(response.status).toBeLessThan(300);
      return (await response.json()) as Body;
    },
  };
}

test("daily-digest runs every day at six, and once after several missed days", async () => {
  const { dataDir, advance, request } = await startAtNoon();
  const digests = async (status: string) =>
    (await request<Page<RunRecord>>("GET", `/runs?workflow=daily-digest&status=${status}`)).data;
  await request("POST", "/workflows", await readFile(DIGEST, "utf8"));
  await advance(17 * 60 * 60 * 1000);
  expect(await request("GET", "/runs")).toMatchObject({ data: [] });

  await advance(61 * 60 * 1000);
  const [first] = await waitUntil("the digest", async () => {
    const ended = await digests("completed");
    return ended.length === 1 && ended;
  });
  expect(first).toMatchObject({ trigger_type: "cron", trigger_name: "every-morning" });
  expect(first?.created_at).toMatch(/^2026-03-02T06:01/);
  const digest = join(dataDir, "workspaces", "daily-digest", "digest-2026-03-02.md");
  expect(await readFile(digest, "utf8")).toBe("# Findings on 2026-03-02\n");

  await advance(3 * DAY_MS);
  await waitUntil("the digest after three days", async () => (await digests("completed")).length === 2);
  const { data } = await request<Page<EventRecord>>("GET", "/event-logs?topic=schedule.triggered");
  const fires = data.map((event) => JSON.parse(event.data) as { slot: string; missed: number });
  expect(fires.map(({ slot, missed }) => `${slot} ${missed}`)).toEqual([
    "2026-03-05T06:00:00.000Z 2",
    "2026-03-02T06:00:00.000Z 0",
  ]);
  expect((await request<Page<RunRecord>>("GET", "/runs")).pagination.total).toBe(2);
});
