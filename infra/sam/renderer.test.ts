import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { awsRenderer } from "../../lib/platform/aws/renderer.ts";
import { openBlobs } from "../../lib/platform/embedded/blobs.ts";
import { silentLog } from "../../lib/platform/embedded/test-platform.ts";
import type { RenderedFormat, Renderer, Rendering } from "../../lib/platform/renderer.ts";
import { type BundleSize, bundle, functionBuilds } from "./bundles.ts";
import { findSizeIssues } from "./sizes.ts";

const NESTED = fileURLToPath(new URL("../stacks/documents.yaml", import.meta.url));
const KEY = "5f1d2c3b-0a4e-4a6b-8c7d-9e0f1a2b3c4d/attachments/0b9c9a3e-7f0c-4c58-9a43-5d2f6e0b0001.png";
/** The smallest PNG. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

type Handler = (event: unknown, context: object) => Promise<unknown>;

let folder: string;
let blobs: Awaited<ReturnType<typeof openBlobs>>;
let renderer: Renderer;
let size: BundleSize;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-renderer-"));
  const found = functionBuilds(await readFile(NESTED, "utf8"), NESTED).find(
    ({ logicalId }) => logicalId === "RendererFunction",
  );
  if (found === undefined) throw new Error("the template has no renderer function");
  size = await bundle(found, folder);
  blobs = await openBlobs(folder);
  const { handler } = (await import(pathToFileURL(join(folder, found.file)).href)) as { handler: Handler };
  renderer = awsRenderer({
    blobs,
    ids: { random: () => "one" },
    log: silentLog,
    invoke: async (payload) => ({
      answer: JSON.stringify(await handler(JSON.parse(payload), { weft: { blobs } })),
    }),
  });
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const rendering = (to: RenderedFormat, blocks: string): Rendering => ({
  to,
  title: "Title",
  language: "en",
  blocks,
  images: new Map([[KEY, { type: "image/png", bytes: PNG }]]),
  documents: new Map(),
  baseUrl: "https://docs.example.org",
  comments: [],
});
const BLOCKS = JSON.stringify([
  { id: "a", type: "image", props: { url: `/media/${KEY}`, name: "Alt" }, content: undefined, children: [] },
]);

it("writes every format without installed packages, and passes everything as blobs that it deletes", async () => {
  expect(findSizeIssues(size)).toEqual([]);
  expect([...size.beside.keys()]).toEqual(["typst-ts-node-compiler.linux-x64-gnu.node"]);
  const begins: Record<string, string> = {};
  for (const to of ["html", "markdown", "portable", "docx", "odt", "pdf"] as const) {
    const rendered = await renderer.render(rendering(to, BLOCKS));
    if (!rendered.ok) throw new Error(`${to}: ${rendered.reason}`);
    const { bytes, issues } = rendered.value;
    expect(issues).toEqual([]);
    const text = Buffer.from(bytes).toString("latin1");
    begins[to] = text.slice(0, 4);
    if (to === "html") expect(text).toContain("data:image/png;base64,");
  }
  expect(begins).toEqual({
    html: "<!DO",
    markdown: "# Ti",
    portable: "![Al",
    docx: "PK\u0003\u0004",
    odt: "PK\u0003\u0004",
    pdf: "%PDF",
  });
  expect(await renderer.render(rendering("html", "no JSON"))).toEqual({ ok: false, reason: "refused" });
  expect(await blobs.list("")).toEqual([]);
}, 60_000);
