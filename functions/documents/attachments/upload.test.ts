import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  GIF_WITH_SCRIPT,
  getMedia,
  PDF,
  PNG,
  SVG_WITH_SCRIPT,
  uploadFile,
} from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const LIMIT = 1024 * 1024;
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

let test: TestDeps;
let gateway: TestGateway;
let id: string;
beforeAll(async () => {
  test = await testDeps({
    settings: {
      DOCUMENT_IMAGE_MAX_SIZE: String(LIMIT),
      DOCUMENT_ATTACHMENTS_MAX_SIZE: String(4 * LIMIT),
      ATTACHMENTS_TOTAL_MAX_SIZE: String(7 * LIMIT),
      API_DOCUMENT_THROTTLE_RATE: "off",
    },
  });
  gateway = await testGateway(test);
  id = await create();
});
afterAll(async () => {
  await gateway.close();
  await test.close();
});

const create = async (): Promise<string> =>
  (await gateway.request("POST", "/documents/", { body: {} })).body.id;
const upload = (name: string, content: Uint8Array | string, to = id) =>
  uploadFile(gateway, to, name, content);
const check = (key: string, to = id) =>
  gateway.request("GET", `/documents/${to}/media-check/?key=${encodeURIComponent(key)}`);
const blobs = () => test.deps.blobs.list("media/");

/** Sends a form as given. */
async function send(body: string | Buffer = "", contentType = "multipart/form-data; boundary=X") {
  return gateway.request("POST", `/documents/${id}/attachment-upload/`, {
    raw: new Uint8Array(typeof body === "string" ? Buffer.from(body) : body),
    headers: { "content-type": contentType },
  });
}
const part = (headers: string, content = "hello"): string => `--X\r\n${headers}\r\n\r\n${content}\r\n`;
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"';

describe("POST documents/{id}/attachment-upload/", () => {
  it("stores the file, and media-check/ returns its URL", async () => {
    const { status, body, key } = await upload("photo.png", PNG);
    expect(status).toBe(201);
    expect(key).toMatch(new RegExp(`^${id}/attachments/${UUID}\\.png$`));
    expect(body).toEqual({
      file: `/api/v1.0/documents/${id}/media-check/?key=${encodeURIComponent(key)}`,
    });
    expect((await check(key)).body).toEqual({ status: "ready", file: `/media/${key}` });
    const media = await getMedia(gateway, key);
    expect(media.status).toBe(200);
    expect(Buffer.from(await media.arrayBuffer()).equals(PNG)).toBe(true);
  });

  it("emits an event that names the document, the user and the file", async () => {
    const { key } = await upload("report.pdf", PDF);
    await test.drain();
    const { data } = (await fetch(
      `${gateway.url}/automation/event-logs?topic=documents.attachment.uploaded&limit=1&sort=desc`,
      { headers: { authorization: `Bearer ${TEST_TOKEN}` } },
    ).then((response) => response.json())) as { data: { data: string }[] };
    expect(JSON.stringify(data)).toContain(key);
    expect(JSON.stringify(data)).toContain("report.pdf");
  });

  it.each<readonly [name: string, content: Uint8Array | string, ending: string]>([
    ["photo.png", PNG, ".png"],
    ["PHOTO.PNG", PNG, ".png"],
    ["photo.jpeg", PNG, "-unsafe.jpeg"],
    ["photo", PNG, "-unsafe.png"],
    ["photo.longextension", PNG, "-unsafe.png"],
    ["a.b/../..\\photo.png", PNG, ".png"],
    ["report.pdf", PDF, ".pdf"],
    ["notes.txt", "hello", ".txt"],
    ["notes.md", "# Notes\n\n<b>bold</b>", ".md"],
    ["table.csv", "a,b\n1,2\n", ".csv"],
    ["image.svg", SVG_WITH_SCRIPT, "-unsafe.svg"],
    ["image.svg", `<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE svg>\n${SVG_WITH_SCRIPT}`, "-unsafe.svg"],
    ["image.png", SVG_WITH_SCRIPT, "-unsafe.png"],
    ["page.html", "<!DOCTYPE html><script>alert(1)</script>", "-unsafe.html"],
    ["page.txt", "<!-- x --><html><script>alert(1)</script>", "-unsafe.txt"],
    ["page.png", "\n \t<script>alert(1)</script>", "-unsafe.png"],
    ["image.bmp", "BM<script>alert(1)</script>", "-unsafe.bmp"],
    ["feed.xml", "<?xml version='1.0'?><rss/>", "-unsafe.xml"],
    ["image.gif", GIF_WITH_SCRIPT, ".gif"],
    ["run.sh", "#!/bin/sh\nid\n", "-unsafe.sh"],
    ["setup.exe", Buffer.from("4d5a90000300000004000000ffff0000", "hex"), "-unsafe.exe"],
    ["program", Buffer.from("7f454c4602010100000000000000000002003e00", "hex"), "-unsafe.elf"],
    ["data.bin", Buffer.from([1, 2, 3, 0, 255, 254]), "-unsafe.bin"],
    ["archive.zip", Buffer.from("504b0506000000000000000000000000000000000000", "hex"), "-unsafe.zip"],
    [".png", PNG, "-unsafe.png"],
    ["bad.p\u202eng", PNG, ".png"],
    ["comments.svg", `${"<!---->".repeat(500)}<x/>`, "-unsafe.svg"],
  ])(
    "gives %j its extension, and marks it if it is dangerous or not what it promises",
    async (name, content, ending) => {
      const { status, key } = await upload(name, content);
      expect(status).toBe(201);
      expect(key.slice(key.lastIndexOf("/") + 37)).toBe(ending);
    },
  );

  it("does not mark files if DOCUMENT_ATTACHMENT_CHECK_UNSAFE_MIME_TYPES_ENABLED is false", async () => {
    const lenient = await testDeps({
      settings: { DOCUMENT_ATTACHMENT_CHECK_UNSAFE_MIME_TYPES_ENABLED: "false" },
    });
    const its = await testGateway(lenient);
    const own = (await its.request("POST", "/documents/", { body: {} })).body.id;
    expect((await uploadFile(its, own, "a.svg", SVG_WITH_SCRIPT)).key).toMatch(/[0-9a-f]\.svg$/);
    await its.close();
    await lenient.close();
  });

  it.each<readonly [string, () => Promise<{ status: number; body: unknown }>, number, unknown]>([
    [
      "no file",
      () => upload("a.txt", "x").then(() => send("--X--\r\n")),
      400,
      { file: ["No file was submitted."] },
    ],
    [
      "a file in another field",
      () => uploadFile(gateway, id, "a.txt", "x", { field: "image" }),
      400,
      { file: ["No file was submitted."] },
    ],
    ["JSON", () => send("{}", "application/json"), 400, { file: ["No file was submitted."] }],
    [
      "another type",
      () => send("x", "text/csv"),
      415,
      { detail: 'Unsupported media type "text/csv" in request.' },
    ],
    ["an empty file", () => upload("a.txt", ""), 400, { file: ["The submitted file is empty."] }],
    [
      "text instead of a file",
      () => send(`${part('Content-Disposition: form-data; name="file"')}--X--\r\n`),
      400,
      { file: ["The submitted data was not a file. Check the encoding type on the form."] },
    ],
    [
      "a file that is too large",
      () => upload("a.txt", "x".repeat(LIMIT + 1)),
      400,
      { file: ["File size exceeds the maximum limit of 1 MB."] },
    ],
  ])("refuses %s", async (_, act, status, body) => {
    const response = await act();
    expect([response.status, response.body]).toEqual([status, body]);
  });

  it.each<readonly [string, string | Buffer, string?]>([
    ["no boundary", "x", "multipart/form-data"],
    ["no end", part(FILE).slice(0, -2)],
    ["no end of its headers", `--X\r\n${FILE}`],
    ["nothing at all", ""],
    ["many parts", `${part('Content-Disposition: form-data; name="a"').repeat(1000)}${part(FILE)}--X--\r\n`],
    ["many files", `${part('Content-Disposition: form-data; name="a"; filename="a"').repeat(1000)}--X--\r\n`],
    ["binary garbage", Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 37) % 256))],
    [
      "a line break in a name",
      `${part('Content-Disposition: form-data; name="fi\nle"; filename="a"')}--X--\r\n`,
    ],
  ])("answers a form with %s with 400 and stores nothing", async (_, body, contentType) => {
    const before = await blobs();
    const response = await send(body, contentType as string | undefined);
    expect(response.status).toBe(400);
    expect(JSON.stringify(response.body)).toMatch(/Multipart form parse error|No file was submitted/);
    expect(await blobs()).toEqual(before);
  });

  it.each([
    ["long", `${FILE}\r\nX-Long: ${"x".repeat(1_000_000)}`],
    ["many", `${FILE}\r\n${"a: b\r\n".repeat(50_000)}c: d`],
  ])("ignores headers of a part that are too %s", async (_, headers) => {
    expect((await send(`${part(headers)}--X--\r\n`)).status).toBe(201);
  });

  it("takes the first file of several", async () => {
    const response = await send(`${part(FILE, "first")}${part(FILE, "second")}--X--\r\n`);
    expect(response.status).toBe(201);
    const key = new URL(response.body.file, gateway.url).searchParams.get("key") ?? "";
    expect(await (await getMedia(gateway, key)).text()).toBe("first");
  });

  it("counts files against the quotas of their document and of the installation", async () => {
    const own = [await create(), await create(), await create()];
    const big = "x".repeat(LIMIT);
    for (let at = 0; at < 4; at += 1) expect((await upload("a.txt", big, own[0])).status).toBe(201);
    const before = (await blobs()).length;
    expect(await upload("a.txt", "x", own[0])).toMatchObject({
      status: 400,
      body: { file: ["The attachments of this document may have 4 MB in total."] },
    });
    const statuses = await Promise.all([1, 2, 3, 4].map(() => upload("a.txt", big, own[1])));
    expect(statuses.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(statuses.find(({ status }) => status !== 201)?.body).toEqual({
      file: ["The storage for attachments is full. Ask an administrator for more."],
    });
    expect((await blobs()).length).toBe(before + 2);
  });

  it("is for those who may edit, also anonymously", async () => {
    const [editor, reader] = [await createUser(test.deps, "ed"), await createUser(test.deps, "rea")];
    await grantRole(test.deps, id, editor.id, "editor");
    await grantRole(test.deps, id, reader.id, "reader");
    const as = async (token: string | null) =>
      (await uploadFile(gateway, id, "a.txt", "x", { token })).status;
    expect([await as(editor.token), await as(reader.token), await as(null)]).toEqual([201, 403, 401]);
    await setLink(test.deps, id, "public", "editor");
    expect(await as(null)).toBe(201);
    await setLink(test.deps, id, "restricted", "reader");
  });
});

describe("GET documents/{id}/media-check/", () => {
  it("requires a key", async () => {
    const { status, body } = await gateway.request("GET", `/documents/${id}/media-check/`);
    expect([status, body]).toEqual([400, { detail: "Missing 'key' query parameter" }]);
  });

  it("does not find attachments of other documents, unknown keys and other texts", async () => {
    const other = await create();
    const { key } = await upload("a.txt", "x", other);
    for (const requested of [key, key.replace(other, id), "../../etc/passwd", "x".repeat(5000), `${key}\0`]) {
      const { status, body } = await check(requested);
      expect([status, body]).toEqual([404, { detail: "Attachment missing" }]);
    }
  });

  it("says so if the bytes are missing", async () => {
    const { key } = await upload("a.txt", "x");
    await test.deps.blobs.delete([`media/${key}`]);
    const { status, body } = await check(key);
    expect([status, body]).toEqual([404, { detail: "Media not found" }]);
  });
});
