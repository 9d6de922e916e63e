import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
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

async function serve(
  bodiesDir: string,
  answer: (event: ProxyEvent) => Promise<string>,
  served: TemplateFunction = fn,
): Promise<string> {
  const load = async () => async (event: unknown) => ({
    statusCode: 200,
    headers: {},
    body: await answer(event as ProxyEvent),
  });
  const invoke = createFunctions({ root: "/", deps: {}, load });
  const gateway = await startGateway({
    functions: [served],
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

it("passes a large form as a stream, while it is received, and stores nothing", async () => {
  const folder = await temporaryFolder();
  const started = Promise.withResolvers<void>();
  const url = await serve(
    folder,
    async ({ body, bodyFile, bodyStream }) => {
      expect([body, bodyFile]).toEqual([null, undefined]);
      let bytes = 0;
      for await (const chunk of bodyStream?.chunks ?? []) {
        started.resolve();
        bytes += chunk.length;
      }
      return `${bytes} of ${bodyStream?.bytes}`;
    },
    { ...fn, streamedBody: true },
  );
  const { sending, response } = post(url, 11 * MIB);
  sending.write(Buffer.alloc(5 * MIB));
  await started.promise;
  expect(await readdir(folder)).toEqual([]);
  sending.end(Buffer.alloc(6 * MIB));
  expect(await response).toEqual([200, `${11 * MIB} of ${11 * MIB}`]);
});

it("responds to a form that its function does not read to its end", async () => {
  const url = await serve(await temporaryFolder(), async () => "refused", { ...fn, streamedBody: true });
  const { sending, response } = post(url, 11 * MIB);
  sending.write(Buffer.alloc(MIB));
  expect(await response).toEqual([200, "refused"]);
});

it("ends the stream of a form with an error if its client disconnects", async () => {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const read = async ({ bodyStream }: ProxyEvent): Promise<string> => {
    try {
      for await (const _ of bodyStream?.chunks ?? []) started.resolve();
      ended.resolve("whole");
      return "whole";
    } catch (error) {
      ended.resolve(error);
      return "failed";
    }
  };
  const url = await serve(await temporaryFolder(), read, { ...fn, streamedBody: true });
  const { sending, response } = post(url, 11 * MIB);
  sending.write(Buffer.alloc(MIB));
  await started.promise;
  sending.destroy();
  expect(await ended.promise).toMatchObject({ code: "client_gone" });
  await expect(response).rejects.toThrow();
});

/** Starts a request whose body the test sends; a client that is refused may see its connection closed afterwards. */
function post(
  url: string,
  bytes: number,
): { readonly sending: ClientRequest; readonly response: Promise<[number | undefined, string]> } {
  const sending = request(url, { method: "POST", headers: { "content-length": bytes } });
  onTestFinished(() => void sending.destroy());
  const response = new Promise<[number | undefined, string]>((resolve, reject) => {
    sending.on("error", reject);
    sending.on("response", (incoming) => {
      let body = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (text: string) => {
        body += text;
        if (body === "refused") resolve([incoming.statusCode, body]);
      });
      incoming.on("end", () => resolve([incoming.statusCode, body])).on("error", reject);
    });
  });
  response.catch(() => undefined);
  return { sending, response };
}
