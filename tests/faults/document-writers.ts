import { randomUUID } from "node:crypto";
import type { TestResponse, TestServer } from "../../lib/testing/test-server.ts";

export const FOLDERS = 4;
const MOVERS = 4;
const SAVERS = 3;
const APPENDERS = 2;
const MAKERS = 2;
const TEXT_MAX = 20_000;

/** Changes of one writer: the acknowledged ones, and the last one while it has no response. */
export interface Acknowledged<Change> {
  readonly done: Change[];
  open?: Change | undefined;
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

/** All changes to the documents of a tree, over all rounds. */
export interface Work {
  readonly root: string;
  readonly folders: readonly string[];
  /** Moves by document. All but the last document have two children. */
  readonly moved: ReadonlyMap<string, Acknowledged<Move>>;
  /** Saved contents by document. */
  readonly saved: ReadonlyMap<string, Acknowledged<string>>;
  /** The document that every appender adds lines to. */
  readonly shared: string;
  readonly appended: readonly Acknowledged<string>[];
  /** Created documents and deleted ones, by writer. */
  readonly made: readonly Acknowledged<string>[];
  readonly deleted: readonly Acknowledged<string>[];
}

const noChanges = <Change>(): Acknowledged<Change> => ({ done: [] });
const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)] as Item;

/** Sends a request for a path below `/api/v1.0/documents/`; paths end with a slash. */
export const sendRequest = (
  weft: TestServer,
  method: string,
  path: string,
  body?: object,
  headers = {},
): Promise<TestResponse> =>
  weft.call(method, `//api/v1.0/documents/${path}`, { headers, ...(body === undefined ? {} : { body }) });

async function create(weft: TestServer, parent: string | undefined, title: string): Promise<string> {
  const answer = await sendRequest(weft, "POST", parent === undefined ? "" : `${parent}/children/`, {
    title,
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return (answer.json as { id: string }).id;
}

/** Creates the tree that the writers change. */
export async function createDocuments(weft: TestServer): Promise<Work> {
  const root = await create(weft, undefined, "Root");
  const below = async (parent: string, count: number, title: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) ids.push(await create(weft, parent, `${title} ${at}`));
    return ids;
  };
  const folders = await below(root, FOLDERS, "Folder");
  const movers = await below(root, MOVERS, "Moved");
  for (const id of movers) await below(id, 2, "Below");
  const savers = await below(root, SAVERS, "Saved");
  const shared = await create(weft, root, "Shared");
  // The first save gives the document an etag.
  await sendRequest(weft, "PATCH", `${shared}/content/`, contentOf("lines\n"));
  // The last folder is itself moved between the others.
  const moved = [...movers, ...folders.slice(-1)];
  return {
    root,
    folders,
    shared,
    moved: new Map(moved.map((id) => [id, { done: [{ from: "", to: root }] }])),
    saved: new Map(savers.map((id) => [id, noChanges<string>()])),
    appended: Array.from({ length: APPENDERS }, noChanges<string>),
    made: Array.from({ length: MAKERS }, noChanges<string>),
    deleted: Array.from({ length: MAKERS }, noChanges<string>),
  };
}

/** Sends one change of a writer. It is pending until the response and stays pending if there is none. */
async function change<Change>(
  of: Acknowledged<Change>,
  wanted: Change,
  work: () => Promise<TestResponse>,
): Promise<TestResponse> {
  of.open = wanted;
  const answer = await work();
  if (answer.status < 300) of.done.push(wanted);
  of.open = undefined;
  return answer;
}

/** Runs all writers concurrently until the server is gone. Returns the unexpected error responses. */
export async function writeUntilServerEnds(weft: TestServer, work: Work): Promise<string[]> {
  const refusals: string[] = [];
  const loop = async (once: () => Promise<TestResponse>, mayBe: readonly number[] = []): Promise<void> => {
    for (;;) {
      const answer = await once().catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status >= 300 && !mayBe.includes(answer.status))
        refusals.push(`${answer.status} ${answer.text}`);
    }
  };
  const movers = [...work.moved].map(([id, of]) => {
    const others = work.folders.filter((folder) => folder !== id);
    return loop(() => move(weft, work.root, id, of, others), [409]);
  });
  const savers = [...work.saved].map(([id, of], at) =>
    loop(() => {
      const text = `${at} ${of.done.length} ${"text ".repeat(Math.random() * TEXT_MAX)}`;
      return change(of, text, () => sendRequest(weft, "PATCH", `${id}/content/`, contentOf(text)));
    }),
  );
  const appenders = work.appended.map((of, at) => loop(() => append(weft, work.shared, of, at), [409, 412]));
  const makers = work.made.map((of, at) => loop(() => makeAndDelete(weft, work, of, at), [409]));
  await Promise.all([...movers, ...savers, ...appenders, ...makers]);
  return refusals;
}

const contentOf = (text: string) => ({ content: Buffer.from(text).toString("base64") });

function move(
  weft: TestServer,
  root: string,
  id: string,
  of: Acknowledged<Move>,
  folders: readonly string[],
): Promise<TestResponse> {
  const folder = anyOf(folders);
  const inside = Math.random() < 0.8;
  // A sibling of the first folder is a child of the root, because the first folder never moves.
  const target_document_id = inside ? folder : (folders[0] as string);
  const position = anyOf(inside ? ["first-child", "last-child"] : ["left", "right"]);
  const wanted = { from: of.done.at(-1)?.to ?? root, to: inside ? folder : root };
  return change(of, wanted, () => sendRequest(weft, "POST", `${id}/move/`, { target_document_id, position }));
}

/** Reads the content, adds a line, and saves it with `If-Match`. */
async function append(
  weft: TestServer,
  id: string,
  of: Acknowledged<string>,
  at: number,
): Promise<TestResponse> {
  const before = await sendRequest(weft, "GET", `${id}/content/`);
  if (before.status !== 200) return before;
  const line = `${at}-${randomUUID()}`;
  const headers = { "if-match": before.headers.get("etag") };
  return change(of, line, () =>
    sendRequest(weft, "PATCH", `${id}/content/`, contentOf(`${before.text}${line}\n`), headers),
  );
}

async function makeAndDelete(
  weft: TestServer,
  work: Work,
  of: Acknowledged<string>,
  at: number,
): Promise<TestResponse> {
  const id = randomUUID();
  const parent = anyOf(work.folders.slice(0, -1));
  const created = await change(of, id, () =>
    sendRequest(weft, "POST", `${parent}/children/`, { id, title: "Made" }),
  );
  const deleted = work.deleted[at];
  if (created.status !== 201 || deleted === undefined || Math.random() < 0.3) return created;
  return change(deleted, id, () => sendRequest(weft, "DELETE", `${id}/`));
}
