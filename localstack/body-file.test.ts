import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { ProxyEvent } from "../lib/http/request.ts";
import type { Log } from "../lib/platform/log.ts";
import { createFunctions } from "./functions.ts";
import { startGateway } from "./gateway.ts";
import type { TemplateFunction } from "./template.ts";

const MIB = 1024 * 1024;
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const fn: TemplateFunction = {
  logicalId: "Large",
  entry: "large",
  handlerExport: "handler",
  timeoutSeconds: 20,
  memoryMb: 128,
  bodyLimitBytes: 12 * MIB,
  largeBody: true,
  worker: false,
  routes: [{ method: "POST", path: "/x", stream: false }],
  sources: [],
};

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "weft-bodies-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function serve(bodiesDir: string, answer: (event: ProxyEvent) => Promise<string>): Promise<string> {
  const load = async () => async (event: unknown) => ({
    statusCode: 200,
    headers: {},
    body: await answer(event as ProxyEvent),
  });
  const invoke = createFunctions({ root: "/", deps: {}, load });
  const gateway = await startGateway({
    functions: [fn],
    invoke,
    log: silent,
    host: "127.0.0.1",
    port: 0,
    bodiesDir,
  });
  onTestFinished(() => gateway.close(0));
  return `${gateway.url}/x`;
}

it("passes a body above Lambda's payload limit in a file, which is removed with the request", async () => {
  let path = "";
  const folder = await temporaryFolder();
  const url = await serve(folder, async ({ body, bodyFile, bodyParts }) => {
    expect(body).toBeNull();
    path = bodyFile?.path ?? "";
    const bytes = bodyFile === undefined ? Buffer.concat(bodyParts ?? []) : await readFile(bodyFile.path);
    return `${bytes.length} ${bodyFile?.bytes ?? "whole"} ${bytes.at(-1)}`;
  });
  const send = async (bytes: Uint8Array | ReadableStream) => {
    const init = { method: "POST", body: bytes as unknown as string, duplex: "half" } as RequestInit;
    const answer = await fetch(url, init);
    return [answer.status, await answer.text()];
  };
  expect(await send(Buffer.alloc(11 * MIB, "a"))).toEqual([200, `${11 * MIB} ${11 * MIB} 97`]);
  expect(path.startsWith(folder)).toBe(true);
  await expect.poll(() => readdir(folder)).toEqual([]);
  expect(await send(Buffer.alloc(1000, "b"))).toEqual([200, "1000 whole 98"]);
  // Of a body whose length nobody says it is not known that it is small.
  expect(await send(new Blob([Buffer.alloc(1000, "c")]).stream())).toEqual([200, "1000 1000 99"]);
  expect((await send(Buffer.alloc(12 * MIB + 1)))[0]).toBe(413);
  expect((await send(new Blob([Buffer.alloc(12 * MIB + 1)]).stream()))[0]).toBe(413);
});

it("removes the file of a client that disconnects within its body", async () => {
  const folder = await temporaryFolder();
  const url = await serve(folder, async () => "never");
  await new Promise<void>((resolve) => {
    const sending = request(url, { method: "POST", headers: { "content-length": 11 * MIB } });
    sending.on("error", () => resolve());
    sending.write(Buffer.alloc(5 * MIB), () => sending.destroy());
    sending.on("close", () => resolve());
  });
  await expect.poll(() => readdir(folder)).toEqual([]);
});

it("removes the files of a killed process from the folder", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "left-behind"), "x");
  await serve(folder, async () => "ok");
  expect(await readdir(folder)).toEqual([]);
});
