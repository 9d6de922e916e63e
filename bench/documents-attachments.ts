import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { runBenchmark } from "./harness/benchmark.ts";
import { createTemporaryFolder } from "./harness/cleanup.ts";
import { percentile } from "./harness/numbers.ts";
import { peakOf } from "./harness/processes.ts";
import { type Server, startServer } from "./harness/server.ts";

const MIB = 1024 * 1024;
const SIZE = 10 * MIB;
const UPLOAD_MS = 80;
const FIRST_BYTE_MS = 5;
const MORE_MEMORY_MB = 40;
const UPLOADS = 30;
const READS = 300;
const RANGE = 64 * 1024;
const SETTLE_MS = 2_000;
const BOUNDARY = "weft-benchmark";
const agent = new Agent({ keepAlive: true });

await runBenchmark({
  name: "documents-attachments",
  what: "Attachments of 10 MiB: uploaded as a form, and 64 KiB of one read, one after another, p50",
  peer: "not measured",
  measure: async ({ brief }) => {
    const [uploads, reads] = brief ? [2, 5] : [UPLOADS, READS];
    const server = await startServer({ env: { API_DOCUMENT_THROTTLE_RATE: "off" } });
    const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
    const page = `${server.url}/api/v1.0/documents/${(created.json as { id: string }).id}`;
    const file = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), randomBytes(SIZE - 8)]);
    const form = formOf(file);
    await upload(server, page, form);
    await sleep(brief ? 0 : SETTLE_MS);

    const uploading = peakOf(server.pid);
    const times: number[] = [];
    let path = "";
    for (let round = 0; round < uploads; round += 1) {
      const begin = performance.now();
      path = await upload(server, page, form);
      times.push(performance.now() - begin);
    }
    const uploadMemory = uploading();
    await sleep(brief ? 0 : SETTLE_MS);
    const reading = peakOf(server.pid);
    const firstBytes: number[] = [];
    for (let round = 0; round < reads; round += 1) {
      const start = (round * 7919) % (SIZE - RANGE);
      firstBytes.push(await readRange(server, path, start, file));
    }
    await readWhole(server, path, file);
    const readMemory = reading();
    agent.destroy();
    await server.stop();
    return {
      figures: [
        { what: "upload of 10 MiB, p50", value: percentile(times, 0.5), unit: "ms", target: UPLOAD_MS },
        {
          what: "first byte of a range, p50",
          value: percentile(firstBytes, 0.5),
          unit: "ms",
          target: FIRST_BYTE_MS,
        },
        {
          what: "uploads: more memory at most",
          value: uploadMemory,
          unit: "MB",
          target: MORE_MEMORY_MB,
        },
        { what: "reads: more memory at most", value: readMemory, unit: "MB", target: MORE_MEMORY_MB },
      ],
      baseline: { write_and_fsync_of_10_mib_p50_ms: await writeTwice(file, uploads) },
      details: { upload_p99_ms: percentile(times, 0.99), first_byte_p99_ms: percentile(firstBytes, 0.99) },
    };
  },
});

function formOf(file: Buffer): Buffer {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

/** Uploads a form; returns the path of the attachment. Not with `fetch`, which copies the body and takes 14 ms more. */
async function upload(server: Server, page: string, body: Buffer): Promise<string> {
  const sent = request(`${page}/attachment-upload/`, {
    method: "POST",
    agent,
    headers: {
      authorization: `Bearer ${server.token}`,
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      "content-length": body.length,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  if (response.statusCode !== 201) throw new Error(`the upload answered ${response.statusCode}: ${answer}`);
  const { file } = JSON.parse(answer) as { file: string };
  return `/media/${new URL(file, server.url).searchParams.get("key")}`;
}

/** Reads a range, checks it, and returns the time to its first bytes, milliseconds. */
async function readRange(server: Server, path: string, start: number, file: Buffer): Promise<number> {
  const headers = { authorization: `Bearer ${server.token}`, range: `bytes=${start}-${start + RANGE - 1}` };
  const begin = performance.now();
  const response = await fetch(`${server.url}${path}`, { headers });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const time = performance.now() - begin;
  const parts = [first?.value ?? new Uint8Array()];
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
    parts.push(next.value);
  const isEqual = Buffer.concat(parts).equals(file.subarray(start, start + RANGE));
  if (response.status !== 206 || !isEqual) throw new Error("the range is not what was uploaded");
  return time;
}

async function readWhole(server: Server, path: string, file: Buffer): Promise<void> {
  const response = await fetch(`${server.url}${path}`, {
    headers: { authorization: `Bearer ${server.token}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!bytes.equals(file)) throw new Error("the file is not what was uploaded");
}

/** What the disk costs: the bytes written to two files, of which one is synced. */
async function writeTwice(file: Buffer, rounds: number): Promise<number> {
  const folder = createTemporaryFolder("files");
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const begin = performance.now();
    for (const name of ["body", "blob"]) {
      const handle = await open(join(folder, `${name}-${round}`), "w");
      await handle.writeFile(file);
      if (name === "blob") await handle.sync();
      await handle.close();
    }
    times.push(performance.now() - begin);
  }
  return percentile(times, 0.5);
}
