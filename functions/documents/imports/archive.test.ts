import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConverterProcess, converterProcess } from "#lib/platform/embedded/converter/client.ts";
import type { Log } from "#lib/platform/log.ts";
import { PNG } from "#lib/testing/test-attachments.ts";
import { type TestDeps, testClock, testDeps } from "#lib/testing/test-deps.ts";
import { createUser } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import { IMPORT_SETTINGS, sendFile, zipOf } from "#lib/testing/test-imports.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };
const HEX = "0123456789abcdef0123456789abcdef";
const HOUR_MS = 60 * 60_000;

let converter: ConverterProcess;
let test: TestDeps;
let gateway: TestGateway;
beforeAll(async () => {
  converter = converterProcess({ log: silent });
  test = await testDeps({ settings: IMPORT_SETTINGS, converter });
  gateway = await testGateway(test);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await test.close();
  await converter.close();
});

interface Branch {
  readonly id: string;
  readonly title: string;
  readonly children: readonly Branch[];
}
const outline = ({ title, children }: Branch): unknown =>
  children.length === 0 ? title : [title, ...children.map(outline)];

const treeOf = async (of: TestGateway, id: string): Promise<Branch> => {
  const { title } = (await of.request("GET", `/documents/${id}/`)).body;
  const { results } = (await of.request("GET", `/documents/${id}/children/?page_size=200`)).body;
  const children = await Promise.all(results.map((one: { id: string }) => treeOf(of, one.id)));
  return { id, title, children };
};
const run = async (entries: Record<string, string | Uint8Array>, name = "Export.zip", parent?: string) => {
  const sent = await sendFile(gateway, name, await zipOf(entries), parent === undefined ? {} : { parent });
  expect(sent).toMatchObject({ status: 202, body: { name, status: "pending", document: null, progress: 0 } });
  await test.drain();
  return (await gateway.request("GET", `/imports/${sent.body.id}/`)).body;
};
const markdownOf = async (id: string): Promise<string> =>
  (await gateway.request("GET", `/documents/${id}/formatted-content/?content_format=markdown`)).body.content;
const find = (branch: Branch, title: string): string =>
  branch.title === title ? branch.id : (branch.children.map((one) => find(one, title)).find(Boolean) ?? "");

describe("an archive of pages", () => {
  it("becomes a tree, with links between the documents and files as attachments", async () => {
    const job = await run({
      "Handbook.md":
        "---\ntitle: The handbook\n---\n\nSee [the first day](Handbook/First%20day.md#start) and [gone](no.md).\n",
      "Handbook/First day.md":
        "---\nposition: 2\n---\n\n![office](../attachments/office.png)\n\n[up](../Handbook.md)\n",
      "Handbook/About.md": "---\nposition: 1\n---\n\n![same](../attachments/office.png)\n",
      "Handbook/First day/Lunch.md": "noon\n",
      "attachments/office.png": PNG,
      "attachments/unused.pdf": "%PDF-1.4",
    });
    expect(job).toMatchObject({ status: "succeeded", progress: 1, error: null });
    expect(job.skipped).toEqual(["attachments/unused.pdf: no document refers to it"]);
    const tree = await treeOf(gateway, job.document);
    expect(outline(tree)).toEqual(["The handbook", "About", ["First day", "Lunch"]]);
    const first = find(tree, "First day");
    expect(await markdownOf(tree.id)).toBe(`See [the first day](/docs/${first}/#start) and [gone](no.md).\n`);
    const [, key] = /\/media\/(\S+)\)/.exec(await markdownOf(first)) ?? [];
    expect(await markdownOf(first)).toContain(`[up](/docs/${tree.id}/)`);
    expect(await markdownOf(find(tree, "About"))).toContain(`/media/${key}`);
    for (const id of [first, find(tree, "About")]) {
      const listed = await gateway.request("GET", `/documents/${id}/attachments/`);
      expect(listed.body.results).toMatchObject([{ key, name: "office.png" }]);
    }
    expect(await test.deps.blobs.list("imports/")).toEqual([]);
  }, 60_000);

  it("is read as Notion writes it, without its databases", async () => {
    const job = await run({
      [`Wiki ${HEX}.md`]: `# Wiki\n\n[Page](Wiki/Page%20${HEX}.md)\n`,
      [`Wiki/Page ${HEX}.md`]: "# Page\n\ntext\n",
      [`Wiki/Table ${HEX}.csv`]: "a,b",
      [`Wiki/Table/Row ${HEX}.md`]: "# Row\n\nText: 1\n",
      "__MACOSX/._x": "x",
    });
    expect(job.skipped).toEqual([`Wiki/Table ${HEX}.csv: databases are not imported`]);
    const tree = await treeOf(gateway, job.document);
    expect(outline(tree)).toEqual(["Wiki", "Page", ["Table", "Row"]]);
    expect(await markdownOf(tree.id)).toBe(`[Page](/docs/${find(tree, "Page")}/)\n`);
    expect(await markdownOf(find(tree, "Page"))).toBe("text\n");
  }, 30_000);

  it("is read as Outline writes it, below a document", async () => {
    const parent = (await gateway.request("POST", "/documents/", { body: { title: "Parent" } })).body.id;
    const job = await run(
      {
        "Team/Plan.md": "# Plan\n\n![](uploads/a/b.png)\n",
        "Other/Note.md": "x\n",
        "Team/uploads/a/b.png": PNG,
      },
      "Outline.zip",
      parent,
    );
    expect(outline(await treeOf(gateway, parent))).toEqual([
      "Parent",
      ["Outline", ["Other", "Note"], ["Team", "Plan"]],
    ]);
    expect(job.skipped).toEqual([]);
  }, 30_000);

  it("is hidden from other users", async () => {
    const sent = await sendFile(gateway, "a.zip", await zipOf({ "a.md": "x" }));
    const other = await createUser(test.deps, "other");
    const path = `/imports/${sent.body.id}/`;
    expect((await gateway.request("GET", path, { token: other.token })).status).toBe(404);
    expect((await gateway.request("GET", path, { token: null })).status).toBe(401);
    await test.drain();
  });

  it("is refused as a whole if it is damaged, has no pages or exceeds a limit", async () => {
    const failed = async (bytes: Uint8Array) => {
      const sent = await sendFile(gateway, "a.zip", bytes);
      await test.drain();
      const job = (await gateway.request("GET", `/imports/${sent.body.id}/`)).body;
      expect(job).toMatchObject({ status: "failed", document: null });
      return job.error;
    };
    const before = (await gateway.request("GET", "/documents/")).body.count;
    const good = await zipOf({ "a.md": "x".repeat(2_000), "b.md": "y" }, { compress: false });
    expect(await failed(good.subarray(0, good.length - 40))).toMatch("damaged or not a zip");
    expect(await failed(await zipOf({ "a.txt": "x" }))).toBe("The archive contains no documents.");
    expect(await failed(await zipOf({ "a.md": Buffer.alloc(20_000_000, 32) }))).toMatch("unpacks to more");
    const deep = Array.from({ length: 40 }, (_, at) => String(at)).join("/");
    expect(await failed(await zipOf({ [`${deep}.md`]: "x" }))).toMatch("maximum depth");
    // A checksum that does not match.
    const damaged = Buffer.from(good);
    damaged[60] = 0x20;
    expect(await failed(damaged)).toMatch("damaged");
    expect((await gateway.request("GET", "/documents/")).body.count).toBe(before);
  }, 60_000);

  it("imports nothing from names that lead out of it, and opens no archive within it", async () => {
    const zip = await zipOf({
      "a.md": "[x](../../etc/passwd) ![y](inner.zip)\n",
      "inner.zip": await zipOf({ "b.md": "b" }),
      "xx/xx/evil.md": "evil",
      nul: "x",
      "CON.md": "con",
    });
    const slip = Buffer.from(zip.toString("latin1").replaceAll("xx/xx/evil.md", "../../evil.md"), "latin1");
    const sent = await sendFile(gateway, "a.zip", slip);
    await test.drain();
    const job = (await gateway.request("GET", `/imports/${sent.body.id}/`)).body;
    expect(job.status).toBe("succeeded");
    expect(job.skipped).toContain("../../evil.md: not a file within the archive");
    expect(outline(await treeOf(gateway, job.document))).toEqual(["a", "a", "CON"]);
  }, 30_000);
});

describe("a crash", () => {
  it("at any commit of an import leaves the whole tree, or nothing", async () => {
    const root = await mkdtemp(join(tmpdir(), "weft-import-"));
    const zip = await zipOf({
      "A.md": "[b](A/B.md)\n",
      "A/B.md": "![x](../attachments/x.png)\n",
      "attachments/x.png": PNG,
    });
    try {
      const prepared = join(root, "prepared");
      const before = await testDeps({ folder: prepared, settings: IMPORT_SETTINGS, converter });
      await (await testGateway(before)).close();
      await before.close();
      for (let commit = 1; ; commit += 1) {
        const folder = join(root, String(commit));
        await cp(prepared, folder, { recursive: true });
        const clock = testClock();
        let died = false;
        const onCrash = (): void => {
          died = true;
        };
        const options = { folder, clock, settings: IMPORT_SETTINGS, converter };
        const dying = await testDeps({
          ...options,
          hostile: { seed: commit, crashAtCommit: commit, onCrash },
        });
        const broken = await testGateway(dying);
        const sent = await sendFile(broken, "A.zip", zip).catch(() => ({ status: 0, body: undefined }));
        await dying.drain().catch(() => undefined);
        await broken.close();
        await dying.close();

        const after = await testDeps(options);
        const again = await testGateway(after);
        try {
          for (let hour = 0; hour < 3; hour += 1) {
            clock.advance(HOUR_MS);
            await after.tick();
          }
          const { results } = (await again.request("GET", "/documents/")).body;
          if (sent.status === 202) expect(results, `died at ${commit}`).toHaveLength(1);
          for (const { id } of results)
            expect(outline(await treeOf(again, id)), `died at ${commit}`).toEqual(["A", "B"]);
          const contents = await after.deps.blobs.list("documents/");
          expect(contents, `died at ${commit}`).toHaveLength(results.length * 2);
          expect(await after.deps.blobs.list("media/"), `died at ${commit}`).toHaveLength(results.length);
          expect(await after.deps.blobs.list("imports/"), `died at ${commit}`).toEqual([]);
        } finally {
          await again.close();
          await after.close();
          await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        }
        if (!died) break;
      }
    } finally {
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    }
  }, 180_000);
});
