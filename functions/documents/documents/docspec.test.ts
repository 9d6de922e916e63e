import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkDocspec } from "#lib/documents/imports/docspec.ts";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import { PNG } from "#lib/testing/test-attachments.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { send as respond, startTestDocspec, type TestDocspec } from "#lib/testing/test-docspec.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { IMPORT_SETTINGS, sendFile, wordDocument } from "#lib/testing/test-imports.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const BLOCKS_JSON = "application/vnd.blocknote+json";
const BLOCKS = [
  { id: "a", type: "heading", props: { level: 2 }, content: [{ type: "text", text: "By DocSpec" }] },
  {
    id: "b",
    type: "paragraph",
    content: [
      { type: "text", text: "bold", styles: { bold: true } },
      { type: "link", href: "javascript:alert(1)", content: [{ type: "text", text: " no link" }] },
      { type: "link", href: "https://e.example/", content: [{ type: "text", text: " link" }] },
    ],
  },
  { id: "c", type: "bulletListItem", content: [{ type: "text", text: "item" }], children: [] },
  { id: "d", type: "image", props: { url: `data:image/png;base64,${PNG.toString("base64")}`, caption: "" } },
];

let test: TestDeps;
let gateway: TestGateway;
let converter: ConverterProcess;
let docspec: TestDocspec;
let word: Buffer;

/** A service of its own, which has not called the fake yet. */
async function open(settings: Record<string, string> = {}): Promise<void> {
  await gateway?.close();
  await test?.close();
  test = await testDeps({
    settings: { ...IMPORT_SETTINGS, DOCSPEC_API_URL: docspec.url, ...settings },
    converter,
  });
  gateway = await testGateway(test);
}

const count = async (): Promise<number> => (await gateway.request("GET", "/documents/")).body.count;
const upload = () => sendFile(gateway, "Report.docx", word);
const problem = (status: number) => (response: Parameters<typeof respond>[0]) =>
  respond(response, status, "application/problem+json", { title: "x", status });

beforeAll(async () => {
  const first = await testDeps();
  converter = converterProcess({ log: first.deps.log });
  await first.close();
  word = await wordDocument();
}, 60_000);
beforeEach(async () => {
  docspec = await startTestDocspec(BLOCKS);
  await open();
  return () => docspec[Symbol.asyncDispose]();
});
afterAll(async () => {
  await gateway.close();
  await test.close();
  await converter.close();
});

describe("with DOCSPEC_API_URL", () => {
  it("a Word document is sent there as it is, and the blocks become a document", async () => {
    const { status, body } = await upload();
    expect(status).toBe(201);
    const path = `/documents/${body.id}/formatted-content/?content_format=markdown`;
    const { content } = (await gateway.request("GET", path)).body;
    expect(content).toMatch(
      /^## By DocSpec\n\n\*\*bold\*\* no link\[ link\]\(https:\/\/e\.example\/\)\n\n\* item\n/,
    );
    expect(content).toContain(`/media/${body.id}/attachments/`);
    const attachments = await gateway.request("GET", `/documents/${body.id}/attachments/`);
    expect(attachments.body.results).toMatchObject([{ name: "image-1.png" }]);
    await upload();
    // The first request finds out the version.
    const headers = { method: "POST", path: "/conversion", type: DOCX, accept: BLOCKS_JSON };
    expect(docspec.requests).toEqual([
      { ...headers, body: Buffer.alloc(0) },
      { ...headers, body: word },
      { ...headers, body: word },
    ]);
  }, 30_000);

  it("other formats are not", async () => {
    expect((await sendFile(gateway, "a.md", "text")).status).toBe(201);
    expect(docspec.requests).toEqual([]);
  }, 30_000);

  it("a large Word document is converted by a job", async () => {
    const padded = await wordDocument(1, Buffer.concat([PNG, randomBytes(5 * 1024 * 1024)]));
    const { status, body } = await sendFile(gateway, "Large.docx", padded);
    expect(status).toBe(202);
    await test.drain();
    const job = await gateway.request("GET", `/imports/${body.id}/`);
    expect(job.body).toMatchObject({ status: "succeeded", error: null });
    expect(docspec.requests.at(-1)?.body.equals(padded)).toBe(true);
  }, 30_000);

  it("version 2 is refused with a sentence that names 3.0.0, and gets no form", async () => {
    docspec.setVersion(2);
    const refused = expect.stringMatching(/multipart.*3\.0\.0 or newer\.$/);
    const before = await count();
    expect(await upload()).toEqual({ status: 502, body: { detail: refused } });
    expect(await checkDocspec({ apiUrl: docspec.url })).toEqual(refused);
    expect(docspec.requests.filter(({ type }) => type !== DOCX)).toEqual([]);
    expect(await count()).toBe(before);
    docspec.setVersion(3);
    expect((await upload()).status).toBe(201);
    docspec.setVersion(2);
    expect((await upload()).status).toBe(502);
    expect(await upload()).toEqual({ status: 502, body: { detail: refused } });
  }, 30_000);

  it("a failed conversion is a clear error, and nothing is created", async () => {
    const before = await count();
    const file = (text: string) => ({ status: 400, body: { file: [expect.stringContaining(text)] } });
    const detail = (status: number, text: string) => ({
      status,
      body: { detail: expect.stringContaining(text) },
    });
    const json = (body: string | object) => (response: Parameters<typeof respond>[0]) =>
      respond(response, 200, BLOCKS_JSON, body);
    const cases = [
      [problem(422), file("cannot read the file")],
      [problem(413), file("too large for the conversion service")],
      [problem(500), detail(502, "failed with status 500")],
      [problem(503), detail(503, "failed with status 503")],
      [json("<html>"), detail(502, "not a list of blocks")],
      [json({ blocks: [] }), detail(502, "not a list of blocks")],
      [json([{ type: "no such block" }]), detail(502, "not a list of blocks")],
      [json("x".repeat(64 * 1024 * 1024 + 1)), detail(502, "exceeds")],
      [
        (response: Parameters<typeof respond>[0]) =>
          void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
        detail(502, "failed with status 302"),
      ],
      [(response: Parameters<typeof respond>[0]) => void response.destroy(), detail(503, "does not respond")],
    ] as const;
    for (const [conversion, expected] of cases) {
      docspec.onConversion(conversion);
      expect(await upload()).toEqual(expected);
    }
    expect(await count()).toBe(before);
  }, 60_000);

  it("a conversion that takes longer than CONVERSION_API_TIMEOUT fails", async () => {
    await open({ CONVERSION_API_TIMEOUT: "1" });
    docspec.onConversion(() => {});
    expect(await upload()).toEqual({ status: 504, body: { detail: expect.stringContaining("within 1 s") } });
  }, 30_000);

  it("an archive that unpacks to too much is not sent", async () => {
    const bomb = await wordDocument(1, Buffer.concat([PNG, Buffer.alloc(60 * 1024 * 1024)]));
    expect(await sendFile(gateway, "a.docx", bomb)).toMatchObject({
      status: 400,
      body: { file: [expect.stringContaining("unpacks to more")] },
    });
    expect(docspec.requests).toEqual([]);
  }, 30_000);
});

describe("the check of DOCSPEC_API_URL", () => {
  it("says what to do about a wrong URL, and a server that does not respond", async () => {
    expect(await checkDocspec({ apiUrl: docspec.url })).toBeUndefined();
    expect(await checkDocspec({ apiUrl: `${docspec.url}s` })).toMatch(/404: set it to .* \/conversion\.$/);
    await docspec[Symbol.asyncDispose]();
    expect(await checkDocspec({ apiUrl: docspec.url })).toMatch(/does not respond: start DocSpec 3\.0\.0/);
    expect(await upload()).toMatchObject({ status: 503 });
    docspec = await startTestDocspec(BLOCKS);
  }, 30_000);
});
