import { createHash } from "node:crypto";
import type { TestServer } from "../../lib/testing/test-server.ts";
import { type Acknowledged, type Move, sendRequest, type Work } from "./document-writers.ts";

interface TreeNode {
  readonly id: string;
  readonly parent: string | undefined;
  readonly numchild: number;
  readonly depth: number;
  readonly path: string;
}

interface Page<Item> {
  readonly count: number;
  readonly next: string | null;
  readonly results: readonly Item[];
}

const PAGE = 200;
const md5 = (text: string) => `"${createHash("md5").update(text).digest("hex")}"`;

async function pages<Item>(weft: TestServer, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await sendRequest(weft, "GET", `${path}?page_size=${PAGE}&page=${page}`);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    const { results, next, count } = answer.json as Page<Item>;
    all.push(...results);
    if (next !== null) continue;
    if (all.length !== count) throw new Error(`${path} counts ${count} and shows ${all.length}`);
    return all;
  }
}

/** Decides whether the pending change was applied, from the current state: it is either done or lost for good. */
function settle<Change>(of: Acknowledged<Change>, isDone: (change: Change) => boolean): void {
  if (of.open !== undefined && isDone(of.open)) of.done.push(of.open);
  of.open = undefined;
}

/** Compares the documents of a restarted server with what its writers saw acknowledged. Returns the differences. */
export async function findDocumentIssues(weft: TestServer, work: Work): Promise<string[]> {
  const faults: string[] = [];
  const nodes = await treeOf(weft, work, faults);
  for (const [id, of] of work.moved) {
    settle<Move>(of, ({ to }) => nodes.get(id)?.parent === to);
    const to = of.done.at(-1)?.to;
    if (nodes.get(id)?.parent !== to) faults.push(`${id} lies in ${nodes.get(id)?.parent}, not in ${to}`);
  }
  const trash = new Set((await pages<{ id: string }>(weft, "trashbin/")).map(({ id }) => id));
  for (const of of work.made) settle(of, (id) => nodes.has(id) || trash.has(id));
  for (const of of work.deleted) settle(of, (id) => trash.has(id));
  const deleted = new Set(work.deleted.flatMap(({ done }) => done));
  for (const id of work.made.flatMap(({ done }) => done)) {
    if (nodes.has(id) === deleted.has(id)) faults.push(`${id} was ${deleted.has(id) ? "deleted" : "made"}`);
    if (trash.has(id) !== deleted.has(id)) faults.push(`${id} is not where the trash should have it`);
  }
  const listed = await pages<{ id: string }>(weft, "all/");
  const shown = new Set(listed.map(({ id }) => id));
  if (shown.size !== listed.length) faults.push("a list shows a document twice");
  for (const id of new Set([...shown, ...nodes.keys()]))
    if (!shown.has(id) || !nodes.has(id)) faults.push(`${id} is in the tree or in the list alone`);
  for (const [id, of] of work.saved) faults.push(...(await contentFaults(weft, id, of)));
  faults.push(...(await appendedFaults(weft, work)));
  return faults;
}

/** Reads all documents below the root through the lists of children. */
async function treeOf(weft: TestServer, { root }: Work, faults: string[]): Promise<Map<string, TreeNode>> {
  const nodes = new Map<string, TreeNode>();
  const top = (await sendRequest(weft, "GET", `${root}/`)).json as TreeNode;
  const open: TreeNode[] = [{ ...top, parent: undefined }];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { id, depth, path, numchild } = node;
    if (nodes.has(id)) faults.push(`${id} is in the tree twice`);
    else {
      nodes.set(id, node);
      const children = await pages<TreeNode>(weft, `${id}/children/`);
      if (children.length !== numchild)
        faults.push(`${id} counts ${numchild} children and has ${children.length}`);
      for (const child of children) {
        if (child.depth !== depth + 1 || !child.path.startsWith(path))
          faults.push(`${child.id} is at ${child.path} below ${path}`);
        open.push({ ...child, parent: id });
      }
    }
  }
  return nodes;
}

/** Expects the last saved content, or the pending one, and a version for each earlier save. */
async function contentFaults(weft: TestServer, id: string, of: Acknowledged<string>): Promise<string[]> {
  const { status, text, headers } = await sendRequest(weft, "GET", `${id}/content/`);
  settle(of, (open) => open === text);
  const faults: string[] = [];
  const last = of.done.at(-1) ?? "";
  if (status !== 200 || text !== last)
    faults.push(`${id}: ${status}, ${text.slice(0, 10)} in place of ${last.slice(0, 10)}`);
  if (last !== "" && headers.get("etag") !== md5(text)) faults.push(`${id}: the etag is another text's`);
  const versions = await versionsOf(weft, id);
  const etags = of.done.slice(0, -1).map(md5);
  const found = versions.map(({ etag }) => etag).toReversed();
  if (found.join() !== etags.join()) faults.push(`${id}: ${found.length} versions of ${etags.length} saves`);
  for (const { version_id, etag } of versions.slice(0, 3)) {
    const one = await sendRequest(weft, "GET", `${id}/versions/${version_id}/`);
    const { content = "" } = one.json as { content?: string };
    if (![content, Buffer.from(content, "base64").toString()].some((kept) => md5(kept) === etag))
      faults.push(`${id}: version ${version_id} cannot be read (${one.status})`);
  }
  return faults;
}

async function versionsOf(weft: TestServer, id: string): Promise<{ version_id: string; etag: string }[]> {
  const all: { version_id: string; etag: string }[] = [];
  for (let after = ""; ; ) {
    const answer = await sendRequest(weft, "GET", `${id}/versions/?page_size=50&version_id=${after}`);
    const page = answer.json as { versions: typeof all; next_version_id_marker: string };
    all.push(...page.versions);
    after = page.next_version_id_marker;
    if (after === "") return all;
  }
}

/** Expects each acknowledged line once; the only other lines are pending ones. */
async function appendedFaults(weft: TestServer, { shared, appended }: Work): Promise<string[]> {
  const { text } = await sendRequest(weft, "GET", `${shared}/content/`);
  const lines = text.split("\n").slice(1, -1);
  for (const of of appended) settle(of, (line) => lines.includes(line));
  const acknowledged = appended.flatMap(({ done }) => done);
  return lines.toSorted().join() === acknowledged.toSorted().join()
    ? []
    : [`${lines.length} lines of ${acknowledged.length} that were appended`];
}

/** Expects one event for each move, deletion and creation, and at least one update event for each saved document. */
export async function findEventIssues(weft: TestServer, work: Work): Promise<string[]> {
  const events = (await weft.events({ source: "documents" })).toReversed().map(({ topic, data }) => {
    const { document_id, previous_parent_id, parent_id } = JSON.parse(data) as Record<string, string>;
    return { topic, id: document_id ?? "", move: `${previous_parent_id} ${parent_id}` };
  });
  const of = (topic: string, id: string) => events.filter((one) => one.topic === topic && one.id === id);
  const faults: string[] = [];
  for (const [id, { done }] of work.moved) {
    const logged = of("documents.moved", id).map(({ move }) => move);
    const wanted = done.slice(1).map(({ from, to }) => `${from} ${to}`);
    // The parent does not show whether a pending move within it was applied, so such moves are not compared.
    const stays = ([one, other]: string[]) => one === other;
    const [loggedMoves, expectedMoves] = [logged, wanted].map((moves) =>
      moves.filter((move) => !stays(move.split(" "))),
    );
    if (loggedMoves?.toSorted().join() !== expectedMoves?.toSorted().join())
      faults.push(`${id}: ${logged.length} events of ${wanted.length} moves`);
  }
  const made = work.made.flatMap(({ done }) => done);
  const deleted = new Set(work.deleted.flatMap(({ done }) => done));
  for (const id of made) {
    if (of("documents.created", id).length !== 1) faults.push(`${id}: its making is not told of once`);
    if (of("documents.deleted", id).length !== (deleted.has(id) ? 1 : 0))
      faults.push(`${id}: its deletion is not told of once`);
  }
  for (const id of [...work.saved.keys(), work.shared])
    if (of("documents.updated", id).length === 0) faults.push(`${id}: nobody was told of its content`);
  return faults;
}
