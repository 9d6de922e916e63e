import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const ROUNDS = 8;
const AT_ONCE = 6;
/** Small files are received in memory, large ones in a file. */
const MIB = 1024 * 1024;
const SIZES = [100_000, 3 * MIB, 6 * MIB];
/** Finished uploads before each kill, and the maximum of a random delay, so that the kill interrupts others at any point. */
const FINISHED_MIN = 3;
const MORE_MS = 60;
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));
/** Longer than the time after which an upload counts as interrupted. */
const INTERRUPTED_MS = 15 * 60_000;

interface Sent {
  readonly name: string;
  readonly bytes: Buffer;
  /** What the server answered; undefined if the kill came first. */
  key?: string;
}

interface Listed {
  readonly key: string;
  readonly name: string;
}

async function createDocument(weft: TestServer): Promise<string> {
  const { json } = await weft.call("POST", "//api/v1.0/documents/", { body: {} });
  return (json as { id: string }).id;
}

/** Uploads one file after another until the server ends. Rejects if it refuses one. */
async function uploadUntilServerEnds(weft: TestServer, document: string, sent: Sent[]): Promise<void> {
  for (;;) {
    const size = SIZES[sent.length % SIZES.length] ?? 0;
    const file: Sent = { name: `file-${sent.length}.bin`, bytes: randomBytes(size) };
    sent.push(file);
    const form = new FormData();
    form.append("file", new File([new Uint8Array(file.bytes)], file.name));
    let response: Response;
    let answer: { file?: string };
    try {
      response = await fetch(`${weft.url}/api/v1.0/documents/${document}/attachment-upload/`, {
        method: "POST",
        headers: { authorization: `Bearer ${weft.token}` },
        body: form,
      });
      answer = (await response.json()) as typeof answer;
    } catch {
      return;
    }
    if (response.status !== 201) throw new Error(`the upload answered ${response.status}`);
    file.key = new URL(answer.file ?? "", weft.url).searchParams.get("key") ?? "";
  }
}

async function listAttachments(weft: TestServer, document: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let page = 1; ; page += 1) {
    const path = `//api/v1.0/documents/${document}/attachments/?page=${page}&page_size=100`;
    const { results, next } = (await weft.call("GET", path)).json as {
      results: Listed[];
      next: string | null;
    };
    all.push(...results);
    if (next === null) return all;
  }
}

/** Files that are not whole, and acknowledged ones that are missing. */
async function findIssues(weft: TestServer, document: string, sent: readonly Sent[]): Promise<string[]> {
  const issues: string[] = [];
  const listed = await listAttachments(weft, document);
  const keys = new Set(listed.map(({ key }) => key));
  for (const { name, key } of sent)
    if (key !== undefined && !keys.has(key)) issues.push(`${name} was acknowledged and is missing`);
  for (const { key, name } of listed) {
    const response = await fetch(`${weft.url}/media/${key}`, {
      headers: { authorization: `Bearer ${weft.token}` },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const expected = sent.find((file) => file.name === name)?.bytes;
    if (response.status !== 200 || expected?.equals(bytes) !== true) issues.push(`${name} is not whole`);
  }
  return issues;
}

/** Number of files below a folder of the data folder. */
const filesIn = (dataDir: string, folder: string): number =>
  readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;

test("each upload is whole or absent after kill -9, and what it leaves is deleted", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-uploads-killed-"));
  const env = { API_DOCUMENT_THROTTLE_RATE: "off" };
  const start = (): Promise<TestServer> =>
    startTestServer({ dataDir, env, program: [process.execPath, SERVER] });
  let weft = await start();
  try {
    const document = await createDocument(weft);
    const sent: Sent[] = [];
    const finished = (): number => sent.filter(({ key }) => key !== undefined).length;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const enough = finished() + FINISHED_MIN;
      const uploads = Array.from({ length: AT_ONCE }, () => uploadUntilServerEnds(weft, document, sent));
      await waitUntil("uploads", () => finished() >= enough);
      await sleep(Math.random() * MORE_MS);
      await weft.kill();
      await Promise.all(uploads);
      weft = await start();
      expect(await findIssues(weft, document, sent), `round ${round}`).toEqual([]);
      for (const folder of ["blobs-unfinished", "bodies-unfinished"])
        expect(filesIn(dataDir, folder), `round ${round}: ${folder}`).toBe(0);
    }
    expect(sent.length).toBeGreaterThan(finished());
    weft.child.stdin?.write(`advance ${INTERRUPTED_MS}\n`);
    const { length } = await listAttachments(weft, document);
    await waitUntil("no leftovers", () => filesIn(dataDir, "blobs/media") === length);
    expect(await findIssues(weft, document, sent)).toEqual([]);
  } finally {
    await weft.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);
