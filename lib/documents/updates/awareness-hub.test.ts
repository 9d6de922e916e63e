import { afterEach, beforeEach, expect, it } from "vitest";
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import { Doc } from "yjs";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { awarenessTable } from "../tables/awareness.ts";
import { AwarenessHub } from "./awareness-hub.ts";
import { AwarenessStore } from "./awareness-store.ts";

const DOCUMENT = "a-document";

let test: TestDeps;
const open: Awareness[] = [];
beforeEach(async () => {
  test = await testDeps();
});
afterEach(async () => {
  for (const awareness of open.splice(0)) awareness.destroy();
  await test.close();
});

/** A process that shares only the tables with others. */
const startProcess = (): AwarenessHub =>
  new AwarenessHub({ store: new AwarenessStore(test.deps), refreshMs: 20, log: test.deps.log });

function newClient() {
  const awareness = new Awareness(new Doc());
  open.push(awareness);
  const { clientID } = awareness;
  return {
    id: clientID,
    move: (state: Record<string, unknown> | null): Uint8Array => {
      awareness.setLocalState(state);
      return encodeAwarenessUpdate(awareness, [clientID]);
    },
  };
}

/** What a listener or a poll receives. */
function newReader() {
  const awareness = new Awareness(new Doc());
  awareness.setLocalState(null);
  open.push(awareness);
  return {
    apply: (update: Uint8Array | undefined): void => {
      if (update !== undefined) applyAwarenessUpdate(awareness, update, "test");
    },
    states: () => awareness.getStates(),
  };
}

const rows = async () => (await test.deps.tables.query(awarenessTable, { pk: DOCUMENT })).items;

it("passes states and leaves to listeners of other processes", async () => {
  const [one, other] = [startProcess(), startProcess()];
  const [client, reader] = [newClient(), newReader()];
  const end = other.subscribe(DOCUMENT, reader.apply);
  await one.publish({ document: DOCUMENT, update: client.move({ cursor: 1 }), owner: "ann" });
  await expect.poll(() => reader.states().get(client.id)).toEqual({ cursor: 1 });
  await one.publish({ document: DOCUMENT, update: client.move(null), owner: "ann" });
  await expect.poll(() => reader.states().has(client.id)).toBe(false);
  end();
});

it("gives a process that begins to listen the states that others have published", async () => {
  const client = newClient();
  await startProcess().publish({ document: DOCUMENT, update: client.move({ cursor: 1 }), owner: "ann" });
  const later = startProcess();
  await later.load(DOCUMENT);
  const reader = newReader();
  reader.apply(later.current(DOCUMENT));
  expect(reader.states().get(client.id)).toEqual({ cursor: 1 });
});

it("lets nobody change the state of another's client, in whatever process", async () => {
  const client = newClient();
  await startProcess().publish({ document: DOCUMENT, update: client.move({ cursor: 1 }), owner: "ann" });
  const other = startProcess();
  await other.publish({ document: DOCUMENT, update: client.move({ cursor: 2 }), owner: "bob" });
  const reader = newReader();
  reader.apply(other.current(DOCUMENT));
  expect(reader.states().get(client.id)).toEqual({ cursor: 1 });
});

it("writes the latest of many moves, and few of them", async () => {
  const [hub, client] = [startProcess(), newClient()];
  let writes = 0;
  const { tables } = test.deps;
  const counted: typeof tables.write = (items) => {
    if (items.some(({ table }) => table.name === awarenessTable.name)) writes += 1;
    return tables.write(items);
  };
  const deps = { clock: test.deps.clock, tables: { ...tables, query: tables.query, write: counted } };
  const counting = new AwarenessHub({ store: new AwarenessStore(deps), refreshMs: 20, log: test.deps.log });
  const moves = Array.from({ length: 50 }, (_, cursor) => client.move({ cursor }));
  await Promise.all(moves.map((update) => counting.publish({ document: DOCUMENT, update, owner: "ann" })));
  expect(writes).toBeLessThanOrEqual(3);
  await hub.load(DOCUMENT);
  const reader = newReader();
  reader.apply(hub.current(DOCUMENT));
  expect(reader.states().get(client.id)).toEqual({ cursor: 49 });
});

it("forgets what is not renewed, and names no address in the table", async () => {
  const [hub, client] = [startProcess(), newClient()];
  await hub.publish({ document: DOCUMENT, update: client.move({ cursor: 1 }), owner: "from 192.0.2.7" });
  expect(JSON.stringify(await rows())).not.toContain("192.0.2.7");
  test.clock.advance(30_000);
  const later = startProcess();
  await later.load(DOCUMENT);
  expect(later.current(DOCUMENT)).toBeUndefined();
  expect((await rows())[0]?.expires_at).toBeLessThan(test.clock.now() / 1000 + 120);
});

it("stores the states of a bounded number of clients, and deletes expired ones", async () => {
  const hub = startProcess();
  const clients = Array.from({ length: 230 }, newClient);
  for (const client of clients)
    await hub.publish({ document: DOCUMENT, update: client.move({}), owner: "ann" });
  expect(await rows()).toHaveLength(200);
  test.clock.advance(30_000);
  await startProcess().load(DOCUMENT);
  expect((await rows()).length).toBeLessThan(200);
});
