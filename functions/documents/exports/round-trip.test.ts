import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import * as Y from "yjs";
import type { TestDeps } from "#lib/testing/test-deps.ts";
import { testExports } from "#lib/testing/test-exports.ts";
import type { TestGateway } from "#lib/testing/test-gateway.ts";
import { IMPORT_SETTINGS, sendFile } from "#lib/testing/test-imports.ts";

const open = testExports(IMPORT_SETTINGS);
let test: TestDeps;
let gateway: TestGateway;
beforeEach(async () => {
  ({ test, gateway } = await open());
});

interface Page {
  readonly title: string;
  readonly blocks: readonly {
    readonly type: string;
    readonly text: string;
    readonly props: Record<string, unknown>;
  }[];
  readonly children: readonly Page[];
}

const text = fc.constantFrom(
  "plain",
  "# no *heading*",
  "日本語 🙂",
  "a | b",
  "<b>&amp;</b>",
  "1. no list",
  "[x](y)",
);
const block = fc.oneof(
  fc.record({
    type: fc.constant("paragraph"),
    text,
    props: fc.constantFrom({}, { textAlignment: "center" }),
  }),
  fc.record({ type: fc.constant("heading"), text, props: fc.constantFrom({ level: 1 }, { level: 3 }) }),
  fc.record({
    type: fc.constantFrom("bulletListItem", "numberedListItem", "quote"),
    text,
    props: fc.constant({}),
  }),
  fc.record({
    type: fc.constant("checkListItem"),
    text,
    props: fc.constantFrom({ checked: true }, { checked: false }),
  }),
  fc.record({ type: fc.constant("callout"), text, props: fc.constant({ emoji: "!" }) }),
);
const title = fc.constantFrom(
  "Plan",
  "plan",
  'A/B: "C"',
  "attachments",
  "Uploads",
  "Überblick",
  "con",
  "Plan (2)",
  "..",
  "x".repeat(120),
);
const { page } = fc.letrec<{ page: Page }>((tie) => ({
  page: fc.record({
    title,
    blocks: fc.array(block, { maxLength: 4 }),
    children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie("page"), { maxLength: 3 })),
  }),
}));

function stateOf({ blocks }: Page): Uint8Array {
  const doc = new Y.Doc();
  const group = new Y.XmlElement("blockGroup");
  doc.getXmlFragment("document-store").insert(0, [group]);
  const nodes = blocks.map(({ type, text: value, props }, at) => {
    const container = new Y.XmlElement("blockContainer");
    container.setAttribute("id", `b${at}`);
    const element = new Y.XmlElement<Record<string, never>>(type);
    for (const [name, one] of Object.entries(props)) element.setAttribute(name, one as never);
    element.insert(0, [new Y.XmlText(value)]);
    container.insert(0, [element as unknown as Y.XmlElement]);
    return container;
  });
  group.insert(0, nodes);
  return Y.encodeStateAsUpdate(doc);
}

async function create(given: Page, parent?: string): Promise<string> {
  const path = parent === undefined ? "/documents/" : `/documents/${parent}/children/`;
  const { id } = (await gateway.request("POST", path, { body: { title: given.title } })).body;
  const content = Buffer.from(stateOf(given)).toString("base64");
  expect((await gateway.request("PATCH", `/documents/${id}/content/`, { body: { content } })).status).toBe(
    204,
  );
  for (const child of given.children) await create(child, id);
  return id;
}

/** What a reader sees of a tree: titles, blocks and order. */
async function read(id: string): Promise<unknown> {
  const { title: name, content } = (await gateway.request("GET", `/documents/${id}/formatted-content/`)).body;
  const { results } = (await gateway.request("GET", `/documents/${id}/children/`)).body;
  const children: unknown[] = [];
  for (const child of results) children.push(await read(child.id));
  return { title: name, blocks: withoutIds(content ?? []), children };
}
const withoutIds = (blocks: readonly { id?: unknown; children: never[] }[]): unknown[] =>
  blocks
    .map(({ id: _id, ...one }) => ({ ...one, children: withoutIds(one.children) }))
    // Editors show an empty document as an empty paragraph.
    .filter(
      (one) => !("type" in one && one.type === "paragraph" && JSON.stringify(one).includes('"content":[]')),
    );

async function exported(id: string): Promise<Buffer> {
  const job = (await gateway.request("GET", `/documents/${id}/export/?with_descendants=true`)).body;
  await test.tick();
  const { url } = (await gateway.request("GET", `/exports/${job.id}/`)).body;
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

it("a tree that was exported as a zip and imported is equal", async () => {
  await fc.assert(
    fc.asyncProperty(page, async (given) => {
      const root = await create(given);
      const { status, body } = await sendFile(gateway, "tree.zip", await exported(root));
      expect(status).toBe(202);
      await test.tick();
      const done = (await gateway.request("GET", `/imports/${body.id}/`)).body;
      expect(done).toMatchObject({ status: "succeeded", skipped: [] });
      expect(await read(done.document)).toEqual(await read(root));
    }),
    { numRuns: 12 },
  );
}, 120_000);
