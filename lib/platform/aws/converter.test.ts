import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { S3Client } from "@aws-sdk/client-s3";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { baseBlob, inputBlob, outputBlob } from "../conversions.ts";
import { openBlobs } from "../embedded/blobs.ts";
import { silentLog, temporaryFolder } from "../embedded/test-platform.ts";
import { awsConverter } from "./converter.ts";
import type { Invoke } from "./isolated-function.ts";
import { lambdaInvoke } from "./lambda-invoke.ts";
import * as s3Sdk from "./s3-sdk.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let blobs: Awaited<ReturnType<typeof openBlobs>>;
beforeEach(async () => {
  folder = await temporaryFolder();
  blobs = await openBlobs(folder.path);
});
afterEach(() => folder.remove());

const converter = (invoke: Invoke) =>
  awsConverter({ blobs, log: silentLog, ids: { random: () => "one" }, invoke });
const bytes = Buffer.from("text");

describe("a conversion by a function of its own", () => {
  it("passes its input and output as blobs and deletes them", async () => {
    const requested: string[] = [];
    const bases: unknown[] = [];
    const { convert } = converter(async (payload) => {
      requested.push(payload);
      const base = await blobs.get(baseBlob("one"));
      bases.push(base && new Uint8Array(base));
      const given = Buffer.from((await blobs.get(inputBlob("one"))) ?? []).toString();
      await blobs.put(outputBlob("one"), `<p>${given}</p>`);
      return { answer: '{"ok":true}' };
    });
    expect(await convert({ from: "plain", bytes, to: "html" })).toEqual({ ok: true, value: "<p>text</p>" });
    expect(await convert({ from: "markdown", bytes, to: "yjs" })).toEqual({
      ok: true,
      value: new Uint8Array(Buffer.from("<p>text</p>")),
    });
    const base = Buffer.from("state");
    const update = await convert({ from: "markdown", bytes, to: "update", base, append: true });
    expect(update).toEqual({ ok: true, value: new Uint8Array(Buffer.from("<p>text</p>")) });
    expect(requested[2]).toBe('{"id":"one","from":"markdown","to":"update","append":true}');
    expect(bases).toEqual([undefined, undefined, new Uint8Array(base)]);
    expect(requested[0]).toBe('{"id":"one","from":"plain","to":"html"}');
    expect(await blobs.list("")).toEqual([]);
  });

  it.each([
    [{ answer: '{"ok":false}' }, "refused"],
    [{ failed: '{"errorMessage":"2026-03-02 Task timed out after 25.00 seconds"}' }, "timeout"],
    [{ failed: '{"errorType":"Runtime.ExitError","errorMessage":"… signal: killed"}' }, "memory"],
  ])("that came to %j is none, and leaves nothing", async (invoked, reason) => {
    const { convert } = converter(async () => invoked);
    expect(await convert({ from: "plain", bytes, to: "json" })).toEqual({ ok: false, reason });
    expect(await blobs.list("")).toEqual([]);
  });

  it("is unavailable if the function fails for another reason or cannot be invoked", async () => {
    const failing = converter(async () => ({ failed: '{"errorMessage":"WEFT_BLOBS_BUCKET is not set"}' }));
    await expect(failing.convert({ from: "plain", bytes, to: "json" })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await blobs.list("")).toEqual([]);
  });
});

describe("a call of a function", () => {
  it("returns the response or the function error, and throws a platform fault if there is no response", async () => {
    let answer: { status: number; error?: string; body: string };
    const seen: string[] = [];
    const server = createServer(async (incoming, outgoing) => {
      seen.push(`${incoming.method} ${incoming.url} ${await text(incoming)}`);
      outgoing.statusCode = answer.status;
      if (answer.error !== undefined) outgoing.setHeader("x-amz-function-error", answer.error);
      outgoing.end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const client = new S3Client({
      region: "eu-west-1",
      credentials: { accessKeyId: "none", secretAccessKey: "none" },
    });
    const invoke = lambdaInvoke({
      environment: { AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${port}` },
      s3: async () => ({ ...s3Sdk, client }),
      name: "weft-converter",
      timeoutSeconds: 25,
      pause: async () => undefined,
    });
    answer = { status: 200, body: '{"ok":true}' };
    expect(await invoke('{"id":"a"}')).toEqual({ answer: '{"ok":true}' });
    expect(seen).toEqual(['POST /2015-03-31/functions/weft-converter/invocations {"id":"a"}']);
    answer = { status: 200, error: "Unhandled", body: '{"errorMessage":"x"}' };
    expect(await invoke("{}")).toEqual({ failed: '{"errorMessage":"x"}' });
    answer = { status: 429, body: '{"Type":"User","message":"Rate exceeded"}' };
    await expect(invoke("{}")).rejects.toMatchObject({ code: "throttled" });
    answer = { status: 500, body: "{}" };
    await expect(invoke("{}")).rejects.toMatchObject({ code: "unavailable" });
  });
});
