import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { createToken } from "#lib/documents/users/tokens.ts";
import type { Conversion, ConversionResult } from "#lib/platform/converter.ts";
import { PlatformFault } from "#lib/platform/faults.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as create } from "../documents/create.ts";
import { route as remove } from "../documents/delete.ts";
import { route as formatted } from "./formatted.ts";
import { route as patch } from "./patch.ts";

let test: TestDeps;
let id: string;
let asked: Conversion[];
let answer: () => Promise<ConversionResult>;
beforeEach(async () => {
  asked = [];
  answer = async () => ({ ok: true, value: '[{"type":"paragraph"}]' });
  test = await testDeps({
    converter: {
      convert: (conversion) => {
        asked.push(conversion);
        return answer();
      },
    },
  });
  id = (await call(test.deps, create, { body: { title: "Shown" } })).body.id;
});
afterEach(() => test.close());

const save = (bytes: Uint8Array | string) =>
  call(test.deps, patch, { params: { id }, body: { content: Buffer.from(bytes).toString("base64") } });
const show = (query: Record<string, string> = {}, token: string | null = TEST_TOKEN) =>
  call(test.deps, formatted, { params: { id }, query, token });

describe("formatted content", () => {
  it("is null without saved content, and nothing is converted", async () => {
    expect(await show()).toEqual({
      status: 200,
      body: {
        id,
        title: "Shown",
        content: null,
        created_at: "2026-03-02T10:00:00.000Z",
        updated_at: "2026-03-02T10:00:00.000Z",
      },
    });
    expect(asked).toEqual([]);
  });

  it("consists of blocks by default, or of another format, for any kind of saved content", async () => {
    await save("some text");
    expect((await show()).body.content).toEqual([{ type: "paragraph" }]);
    answer = async () => ({ ok: true, value: '<p>some "text"</p>' });
    expect((await show({ content_format: "HTML" })).body.content).toBe('<p>some "text"</p>');
    const state = Y.encodeStateAsUpdate(new Y.Doc());
    await save(state);
    await show({ content_format: "markdown" });
    expect(asked.map(({ from, to }) => `${from} ${to}`)).toEqual([
      "plain json",
      "plain html",
      "yjs markdown",
    ]);
    expect(Buffer.from(asked[0]?.bytes ?? []).toString()).toBe("some text");
    expect(Buffer.from(asked[2]?.bytes ?? [])).toEqual(Buffer.from(state));
  });

  it("reports errors of the format, the content and the converter", async () => {
    await save("text");
    expect(await show({ content_format: "pdf" })).toEqual({
      status: 400,
      body: ['"pdf" is not a supported format; use one of json, markdown, html.'],
    });
    answer = async () => ({ ok: false, reason: "refused" });
    expect(await show()).toEqual({ status: 400, body: { error: "The content cannot be converted." } });
    answer = async () => ({ ok: false, reason: "timeout" });
    expect(await show()).toEqual({ status: 400, body: { error: "The content takes too long to convert." } });
    answer = () => Promise.reject(new PlatformFault("unavailable", "/secret/path"));
    expect(await show()).toEqual({ status: 500, body: { error: "Failed to get document content" } });
    answer = () => Promise.reject(new PlatformFault("throttled", "busy"));
    expect((await show()).status).toBe(429);
    const { converter: _, ...without } = test.deps;
    expect((await call(without, formatted, { params: { id } })).status).toBe(503);
  });

  it("is available to users who may read the document, unless it is deleted", async () => {
    const other = (await createToken(test.deps, { email: "other@example.com" })).token;
    expect([(await show({}, null)).status, (await show({ content_format: "pdf" }, other)).status]).toEqual([
      401, 403,
    ]);
    await call(test.deps, remove, { params: { id } });
    expect([(await show()).status, (await show({}, other)).status]).toEqual([403, 404]);
  });
});
