import type { Figure } from "./harness/benchmark.ts";
import { runBenchmark } from "./harness/benchmark.ts";
import { type DocumentData, idOf } from "./harness/document-data.ts";
import {
  createToken,
  type DocumentRequests,
  FiguresBySize,
  forEachSize,
  measureRequests,
  secondsOf,
} from "./harness/document-requests.ts";
import { measureEcho } from "./harness/echo.ts";
import { seconds as secondsTaken, startLoad } from "./harness/load.ts";
import type { Server } from "./harness/server.ts";

const DOCUMENTS = "/api/v1.0/documents/";
const WRITE_MS = 4;
const MOVE_MS = 5;
const MOVERS = 16;
const SERVER_FAULT = 500;

await runBenchmark({
  name: "documents-writes",
  what: "A new document, a new child of one with 1,000, a subtree of 1,000 that moves; one connection, p50",
  peer: "148; 124; 111 ms; of 286 moves at 16 connections 164 answered 500",
  measure: async ({ brief }) => {
    const seconds = secondsOf(brief);
    const body = JSON.stringify({ title: "A new document" });
    const post = { name: "post", method: "POST", path: "/", body };
    const echo = await measureEcho({ connections: 1, kinds: [post], seconds });
    const sized = new FiguresBySize();
    const details: Record<string, unknown> = {};
    const faults: string[] = [];
    await forEachSize(brief, async (server, data, size) => {
      const token = await createToken(server, "few");
      for (const asked of questions(data, token, body))
        sized.add(asked, size, await measureRequests(server, asked, seconds));
      const { figure, statuses } = await moveAtOnce(server, data, token, seconds);
      const what = `${figure.what}, of ${size} documents`;
      sized.figures.push({ ...figure, what });
      details[what] = statuses;
      faults.push(...(await faultsOf(server, data, token)));
    });
    return {
      figures: sized.all(),
      baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs },
      details: { ...sized.details, ...details },
      faults,
    };
  },
});

function parentsOf({ owned }: DocumentData): string[] {
  return owned.slice(-2).map(idOf);
}

/** Moves a subtree between two parents in different trees, alternately. */
function moves(data: DocumentData): DocumentRequests["kinds"] {
  const [one, other] = parentsOf(data).map((target_document_id) => ({
    method: "POST",
    path: `${DOCUMENTS}${idOf(data.moved)}/move/`,
    body: JSON.stringify({ target_document_id, position: "last-child" }),
  }));
  if (one === undefined || other === undefined) throw new Error("there are no two to move between");
  return [one, other];
}

function questions(data: DocumentData, token: string, body: string): DocumentRequests[] {
  const { hub, children, inMoved } = data;
  const create = (name: string, path: string, peer: string): DocumentRequests => ({
    name,
    token,
    peer,
    target: WRITE_MS,
    isWrite: true,
    kinds: [{ method: "POST", path, body, expect: 201 }],
  });
  return [
    create("new root", DOCUMENTS, "148 ms"),
    create(`new child of one with ${children}`, `${DOCUMENTS}${idOf(hub)}/children/`, "124 ms"),
    {
      name: `move of ${inMoved}`,
      token,
      peer: "111 ms",
      target: MOVE_MS,
      isWrite: true,
      kinds: moves(data),
    },
  ];
}

/** Moves the same subtree concurrently from several clients. */
async function moveAtOnce(
  server: Server,
  data: DocumentData,
  token: string,
  seconds: number,
): Promise<{ figure: Figure; statuses: unknown }> {
  const kinds = moves(data).map((kind) => ({ ...kind, name: "move" }));
  const { port } = server;
  const report = await startLoad({ port, token, connections: MOVERS, kinds, seconds }).report;
  const failed = Object.entries(report.statuses)
    .filter(([status]) => Number(status) >= SERVER_FAULT)
    .reduce((sum, [, count]) => sum + count, 0);
  const what = `${MOVERS} movers at once, answers of 500 and more`;
  const { p50, p99 } = report.kinds.move ?? {};
  return {
    figure: { what, value: failed, unit: "answers", target: 0, peer: "164 of 286" },
    statuses: { ...report.statuses, a_second: report.answers / secondsTaken(report), p50, p99 },
  };
}

/** Checks that the subtree has exactly one parent and is complete. Returns the faults. */
async function faultsOf(server: Server, data: DocumentData, token: string): Promise<string[]> {
  const get = async <Body>(path: string): Promise<Body> =>
    (await server.call("GET", `/${DOCUMENTS}${path}`, { token })).json as Body;
  const counts = await Promise.all(
    parentsOf(data).map(async (id) => {
      const { numchild } = await get<{ numchild: number }>(`${id}/`);
      const { results } = await get<{ results: unknown[] }>(`${id}/children/`);
      return [numchild, results.length];
    }),
  );
  const [said, found] = [0, 1].map((at) => counts.reduce((sum, one) => sum + (one[at] ?? 0), 0));
  const within = await get<{ count: number }>(`search/?q=Compte&document=${idOf(data.moved)}`);
  return [
    ...(said === 1 && found === 1 ? [] : [`parents count ${said} children and have ${found}, not 1`]),
    ...(within.count === data.inMoved
      ? []
      : [`${within.count} documents in the subtree, not ${data.inMoved}`]),
  ];
}
