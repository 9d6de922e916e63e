import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import type { Ports } from "../../lib/platform/ports.ts";
import type { Key } from "../../lib/platform/tables.ts";
import { countersTable } from "../../lib/workflows/lists/table.ts";
import { stepsPendingWrite } from "../../lib/workflows/runs/step-results.ts";
import {
  runKey,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepKey,
  stepsTable,
} from "../../lib/workflows/runs/table.ts";
import type { Client } from "./test-tour-client.ts";

const NUCLEI = { "template-id": "t", info: { name: "Open", severity: "high" }, host: "a.example.org" };

const WORKSPACE = "findings";

const DIFFS_MAX = 1_000;

/** Findings created by request, before the sweep adds them to their lists. */
export async function importFindings(client: Client): Promise<void> {
  for (const title of ["one", "two"]) {
    const found = `${JSON.stringify({ ...NUCLEI, info: { ...NUCLEI.info, description: title } })}\n`;
    await client.send("POST", `/automation/assets/import?workspace=${WORKSPACE}`, found);
    const asset = JSON.stringify({ host: "b.example.org", title });
    await client.send("POST", `/automation/assets/import?workspace=${WORKSPACE}&format=jsonl`, asset);
  }
  const finding = { workspace: WORKSPACE, vuln_title: "By hand" };
  const { data } = await client.send<{ data: { id: number } }>(
    "POST",
    "/automation/vulnerabilities",
    finding,
  );
  await client.send("DELETE", `/automation/vulnerabilities/${data.id}`);
  await client.upload(`/automation/snapshots/import?workspace=${WORKSPACE}`, await snapshot());
}

async function snapshot(): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from("in a snapshot"), "notes.txt");
  zip.addBuffer(Buffer.from('{"artifact_path":"notes.txt"}'), ".weft-snapshot/artifacts.jsonl");
  zip.end();
  return buffer(Readable.from(zip.outputStream));
}

/** The maximum number of diffs, so that the next one replaces the oldest. */
export async function createDiffs({ tables }: Pick<Ports, "tables">): Promise<void> {
  for (const kind of ["assets", "vulnerabilities"])
    await tables.update(countersTable, { pk: `diffs-${kind}`, sk: "next" }, { add: { next: DIFFS_MAX } });
}

/** A finished run whose steps never got the notification. */
export async function createFinishedRun({ tables }: Pick<Ports, "tables">): Promise<void> {
  const id = randomUUID();
  const found = { workspace: "", target: "", params: {}, started_at: null, error_message: "" };
  const run = { ...runKey(id), run_id: id, status: "completed", ...found };
  const step = { ...stepKey(id, "left"), key: "left", dispatch: 1, status: "completed", step_type: "bash" };
  await tables.write([
    { op: "put", table: runsTable, item: run as Key as StoredRun },
    { op: "put", table: stepsTable, item: step as Key as StoredStep },
    stepsPendingWrite(id),
  ]);
}

/** Every list and file of findings. */
export async function readFindings(client: Client, runId: string): Promise<void> {
  const [found] = await client.list<{ id: number }>(`/automation/vulnerabilities?workspace=${WORKSPACE}`);
  const window = `workspace=${WORKSPACE}&from=2020-01-01`;
  for (const path of [
    "/asset-stats",
    `/assets/diff?${window}`,
    `/vulnerabilities/diff?${window}`,
    "/vulnerabilities/summary",
    "/vulnerabilities/timeline",
    `/vulnerabilities/${found?.id}`,
    "/workspaces",
    "/workspace-names",
    "/artifacts?verify_exist=true",
    `/runs/${runId}/artifacts`,
    "/step-results?limit=1000",
    "/stats",
    "/snapshots",
  ])
    await client.send("GET", `/automation${path}`);
  for (const kind of ["assets", "vulnerabilities"]) {
    const times = { workspace: WORKSPACE, from: "2020-01-01" };
    await client.send("POST", `/automation/${kind}/diffs`, times);
    await client.list(`/automation/${kind}/diffs`);
  }
  await client.file("GET", "/automation/assets/export");
  await client.file("GET", `/automation/artifacts/${WORKSPACE}?artifact_path=notes.txt`);
  await client.file("POST", "/automation/snapshots/export", { workspace: WORKSPACE });
  const [kept] = await client.list<{ name: string }>("/automation/snapshots");
  await client.send("DELETE", `/automation/snapshots/${kept?.name}`);
}
