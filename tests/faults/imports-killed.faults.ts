import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openZip } from "../../lib/archives/read-zip.ts";
import { PNG } from "../../lib/testing/test-attachments.ts";
import { zipOf } from "../../lib/testing/test-imports.ts";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const ROUNDS = 2;
const PAGES = 30;
/** The maximum of a random delay before the kill, which then interrupts the jobs at any point. */
const MORE_MS = 1_500;
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));
/** Longer than the lease of a job, and the time after which a received file without a job is removed. */
const LATER_MS = 15 * 60_000;
const JOB_MAX_MS = 60_000;
const LIMITS = { entriesMax: 1_000, entryMaxBytes: 1e8, totalMaxBytes: 1e8 };

interface Job {
  readonly id: string;
  readonly status: string;
  readonly document: string | null;
  readonly url: string | null;
}
interface Listed {
  readonly id: string;
  readonly title: string;
  readonly numchild: number;
}

const api = (path: string): string => `//api/v1.0/${path}`;

/** A page that shows an image, with others below it. */
function archive(): Promise<Buffer> {
  const pages = Array.from({ length: PAGES }, (_, at) => [`Root/Page ${at}.md`, `text of page ${at}\n`]);
  return zipOf({ "Root.md": "![image](a.png)\n", "a.png": PNG, ...Object.fromEntries(pages) });
}

/** Sends a file; undefined if the server ends first. */
async function importFile(weft: TestServer, name: string, bytes: Buffer): Promise<Job | undefined> {
  const form = new FormData();
  form.append("file", new File([new Uint8Array(bytes)], name));
  try {
    const response = await fetch(`${weft.url}/api/v1.0/documents/`, {
      method: "POST",
      headers: { authorization: `Bearer ${weft.token}` },
      body: form,
    });
    expect([201, 202]).toContain(response.status);
    return (await response.json()) as Job;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function listAll(weft: TestServer, path: string): Promise<Listed[]> {
  const { json } = await weft.call("GET", api(`${path}?page_size=200`));
  return (json as { results: Listed[] }).results;
}

const ended = async (weft: TestServer, path: string): Promise<Job> =>
  waitUntil(
    `the end of ${path}`,
    async () => {
      const job = (await weft.call("GET", api(path))).json as Job;
      return ["succeeded", "done", "failed"].includes(job.status) && job;
    },
    JOB_MAX_MS,
  );

const filesIn = async (dataDir: string, folder: string): Promise<number> =>
  (await readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => [])).filter(
    (entry) => entry.isFile(),
  ).length;

test("each import and export is whole or absent after kill -9, and what it leaves is deleted", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-imports-killed-"));
  const temporary = join(dataDir, "temporary");
  await mkdir(temporary);
  const env = {
    API_DOCUMENT_THROTTLE_RATE: "off",
    CONVERSION_UPLOAD_ENABLED: "true",
    CONVERSION_FILE_EXTENSIONS_ALLOWED: ".md,.zip",
    TMPDIR: temporary,
  };
  const start = (): Promise<TestServer> =>
    startTestServer({ dataDir, env, program: [process.execPath, SERVER] });
  let weft = await start();
  try {
    const zip = await archive();
    const exported = (await importFile(weft, "first.zip", zip))?.id ?? "";
    const { document } = await ended(weft, `imports/${exported}/`);
    let trees = 1;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const started = (await weft.call("GET", api(`documents/${document}/export/?with_descendants=true`)))
        .json as Job;
      const sent = Array.from({ length: 3 }, (_, at) => importFile(weft, `${round}-${at}.zip`, zip));
      const alone = importFile(weft, `alone-${round}.md`, Buffer.from(`${"text ".repeat(20_000)}the end\n`));
      await sleep(Math.random() * MORE_MS);
      await weft.kill();
      const jobs = (await Promise.all(sent)).filter((job) => job !== undefined);
      await alone;
      weft = await start();
      weft.child.stdin?.write(`advance ${LATER_MS}\n`);
      for (const { id } of jobs) {
        const job = await ended(weft, `imports/${id}/`);
        expect(job.status, `round ${round}`).toBe("succeeded");
        const root = (await weft.call("GET", api(`documents/${job.document}/`))).json as Listed;
        expect(root, `round ${round}`).toMatchObject({ title: "Root", numchild: PAGES });
      }
      const result = await ended(weft, `exports/${started.id}/`);
      expect(result.status, `round ${round}`).toBe("done");
      // The link names the port of the server that was asked for the export.
      const { pathname, search } = new URL(result.url ?? "");
      const file = Buffer.from(await (await fetch(`${weft.url}${pathname}${search}`)).arrayBuffer());
      expect((await openZip(file, LIMITS)).members.length, `round ${round}`).toBe(PAGES + 2);
      // Without a response, an import has happened or not.
      const roots = await listAll(weft, "documents/");
      trees = roots.filter(({ title }) => title === "Root").length;
      for (const { id, title, numchild } of roots) {
        if (title === "Root") expect(numchild).toBe(PAGES);
        const path = api(`documents/${id}/formatted-content/?content_format=markdown`);
        const { content } = (await weft.call("GET", path)).json as { content: string };
        expect(content, title).toMatch(title === "Root" ? /^!\[image\]\(\/media\// : /the end\n$/);
      }
    }
    weft.child.stdin?.write(`advance ${LATER_MS}\n`);
    await waitUntil("no files of imports", async () => (await filesIn(dataDir, "blobs/imports")) === 0);
    await waitUntil("no files but those of attachments", async () => {
      return (await filesIn(dataDir, "blobs/media")) === trees;
    });
    expect(await filesIn(dataDir, "blobs-unfinished")).toBe(0);
    expect((await readdir(temporary)).filter((name) => name.startsWith("weft-import-"))).toEqual([]);
  } finally {
    await weft.kill();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);
