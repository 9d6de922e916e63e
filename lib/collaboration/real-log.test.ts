import { afterEach, beforeEach, expect, it } from "vitest";
import * as Y from "yjs";
import { createDocument } from "../documents/records/create.ts";
import { getOrCreateOwner } from "../documents/users/users.ts";
import { type TestDeps, testDeps } from "../testing/test-deps.ts";
import { closed, ORIGIN, TestCollaboration } from "./test-collaboration.ts";
import { authenticate, updateMessage, varBytes, varUint } from "./test-raw-client.ts";

let deps: TestDeps;
let test: TestCollaboration;
let room: string;
beforeEach(async () => {
  deps = await testDeps();
  const owner = await getOrCreateOwner(deps.deps, "owner@weft.local");
  room = (await createDocument(deps.deps, owner, { title: "Notes" })).document.id;
  test = await TestCollaboration.start({ storage: deps.deps.updateLogs });
  for (const name of ["ann", "bob", "eve"]) test.backend.add(name);
});
afterEach(async () => {
  await test.close();
  await deps.close();
});

/** An update with one item that contains JSON-like values, from their encoding. */
const updateWithAny = (value: readonly number[], client = 7, clock = 0): Uint8Array =>
  new Uint8Array([
    1, // clients
    1, // structs
    ...varUint(client),
    ...varUint(clock),
    8, // ContentAny, without origins
    1, // the parent is a root type
    ...varBytes("text"),
    1, // values
    ...value,
    0, // deletions
  ]);

const DEPTH = 100_000;
const NESTED = [...Array.from({ length: DEPTH }, () => [117, 1]).flat(), 126];

it.each<[string, Uint8Array]>([
  ["values that are nested 100,000 deep", updateWithAny(NESTED)],
  ["more structs than bytes", new Uint8Array([1, ...varUint(2 ** 31), 7, 0, 0])],
  ["more clients than bytes", new Uint8Array([...varUint(2 ** 31), 0])],
  ["more deletions than bytes", new Uint8Array([0, 1, 7, ...varUint(2 ** 31)])],
  ["a client id above 2^53", new Uint8Array([1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 127, 0, 0, 1, 0])],
  ["a clock far in the future", updateWithAny([126], 7, 2 ** 40)],
  ["an item whose parent is an item of another client", new Uint8Array([1, 1, 7, 0, 8, 0, 9, 5, 1, 126, 0])],
])("an update with %s harms nobody, also after the room was unloaded", async (_case, hostile) => {
  const ann = test.connect("ann", { room });
  await ann.saved();
  const socket = test.socket(room, { origin: ORIGIN, cookie: "user=eve" });
  await authenticate(socket, room);
  socket.send(updateMessage(room, hostile));
  const end = closed(socket);
  ann.write("unharmed");
  await ann.saved();
  socket.terminate();
  await end;
  ann.close();
  await expect.poll(() => test.server.status).toEqual({ rooms: 0, connections: 0 });
  const bob = test.connect("bob", { room });
  await expect.poll(() => bob.text()).toBe("unharmed");
  bob.write(" still");
  await bob.saved();
});

/** Content as an editor creates it that does not know the document's. */
function otherContent(text: string): Y.Doc {
  const doc = new Y.Doc();
  const [group, container, paragraph] = ["blockGroup", "blockContainer", "paragraph"].map(
    (name) => new Y.XmlElement(name),
  ) as [Y.XmlElement, Y.XmlElement, Y.XmlElement];
  paragraph.insert(0, [new Y.XmlText(text)]);
  container.insert(0, [paragraph]);
  group.insert(0, [container]);
  doc.getXmlFragment("document-store").insert(0, [group]);
  return doc;
}

it("refuses content of another lineage, which editors would hide, and tells its client the generation", async () => {
  const ann = test.connect("ann", { room });
  await ann.saved();
  const bob = test.connect("bob", { room, document: otherContent("stale") });
  await expect.poll(() => bob.reasons).toContain("generation:0");
  expect(bob.provider.unsyncedChanges).toBeGreaterThan(0);
  ann.write("still works");
  await ann.saved();
  const { state } = await deps.deps.updateLogs.use(room, (log) => log.read());
  const doc = new Y.Doc();
  Y.applyUpdate(doc, state);
  expect(doc.getXmlFragment("document-store").length).toBe(1);
  expect(doc.getXmlFragment("document-store").toString()).not.toContain("stale");
});
