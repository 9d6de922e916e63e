import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testClock, testDeps } from "../../lib/testing/test-deps.ts";
import { createFixtures } from "../../lib/testing/test-document-fixtures.ts";
import {
  createRequest,
  expectedStatus,
  findResponseIssue,
  type MatrixRequest,
  type RequestContext,
  type Row,
  rowName,
} from "../../lib/testing/test-matrix.ts";
import { ENDPOINT_ROWS } from "../../lib/testing/test-permissions.ts";
import { startTestServer, type TestResponse, type TestServer } from "../../lib/testing/test-server.ts";
import {
  CALLER_NAMES,
  SITUATIONS,
  type Situation,
  situationName,
} from "../../lib/testing/test-situations.ts";

/** True for cases that start the converter, which takes seconds; other tests cover it. */
const isConverted = (row: Row, situation: Situation): boolean =>
  /formatted-content$|export$/.test(row.endpoint) && expectedStatus(row, situation) === 200;

interface Case {
  readonly row: Row;
  readonly asked: RequestContext;
  readonly request: MatrixRequest;
}

/** Situations for an endpoint: every caller, each in a different scene, and one situation for each possible status. */
function situationsOf(row: Row, index: number): readonly Situation[] {
  const scenes = SITUATIONS.length / CALLER_NAMES.length;
  const chosen = new Set<Situation>();
  CALLER_NAMES.forEach((_, at) => {
    const situation = SITUATIONS[((index * 29 + at * 37) % scenes) * CALLER_NAMES.length + at];
    if (situation !== undefined) chosen.add(situation);
  });
  const answered = new Set<number>();
  for (const situation of SITUATIONS) {
    const status = expectedStatus(row, situation);
    if (!answered.has(status)) chosen.add(situation);
    answered.add(status);
  }
  return [...chosen].filter((situation) => !isConverted(row, situation));
}

let dataDir: string;
let weft: TestServer;
let cases: readonly Case[];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-matrix-"));
  const test = await testDeps({ folder: dataDir, clock: testClock(Date.now()) });
  const stage = await createFixtures(test);
  const chosen = ENDPOINT_ROWS.flatMap((row, index) =>
    situationsOf(row, index).map(async (situation) => ({
      row,
      ...(await createRequest(row, situation, stage)),
    })),
  );
  cases = await Promise.all(chosen);
  await test.close();
  weft = await startTestServer({ dataDir });
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Sends the request of a case with a trailing slash, as clients do. */
function send({ row, request }: Case): Promise<TestResponse> {
  const { method, params, query, body, token } = request;
  const [, path = ""] = row.endpoint.split(" ");
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "");
  const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  return weft.call(method, `//api/v1.0${filled}/${search}`, {
    token,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
}

const DENIED = "You do not have permission to perform this action.";
const SEARCH_DENIED = "You do not have permission to search within this document.";
const UNKNOWN = "Authentication credentials were not provided.";

/** Checks the body and headers of an error response (reference 1.0). Returns the fault, or `undefined`. */
function errorFault({ row, asked }: Case, { status, json, headers }: TestResponse): string | undefined {
  if (status < 400) return undefined;
  const { detail } = (json ?? {}) as { detail?: unknown };
  if (status === 401 && (detail !== UNKNOWN || headers.get("www-authenticate") === null))
    return `says ${detail}, and ${headers.get("www-authenticate")}`;
  const isSearch = row.endpoint === "GET /documents/search";
  if (status === 403 && asked.caller === "anonymous" && !isSearch)
    return detail === "Authentication required." ? undefined : `says ${detail}`;
  const isOwnerGrant = row.endpoint.startsWith("POST") && row.variant === "of an owner";
  const denied = isSearch ? SEARCH_DENIED : DENIED;
  if (status === 403 && detail !== denied && !isOwnerGrant) return `says ${detail}`;
  if ([404, 405].includes(status) && typeof detail !== "string") return `says ${JSON.stringify(json)}`;
  return status === 400 && json === undefined ? "says nothing" : undefined;
}

describe("over HTTP", () => {
  it("every caller gets the status of the table, and errors have the format that clients expect", async () => {
    expect(cases.length).toBeGreaterThan(800);
    const wrong: string[] = [];
    for (const one of cases) {
      const answer = await send(one);
      const fault =
        findResponseIssue(one.row, one.asked, answer.status, () => answer.json) ?? errorFault(one, answer);
      if (fault !== undefined)
        wrong.push(`${rowName(one.row)}: ${situationName(one.asked)}: ${fault} ${answer.text.slice(0, 100)}`);
    }
    expect(wrong).toEqual([]);
  });

  it("concurrent moves and creations return a definite status and lose no document", async () => {
    const send = async (path: string, body: unknown) => {
      const { status, json } = await weft.call("POST", `//api/v1.0/documents/${path}`, {
        body,
        headers: { "content-type": "application/json" },
      });
      return { status, id: (json as { id?: string } | undefined)?.id ?? "" };
    };
    const childrenOf = async (id: string): Promise<readonly { id: string; numchild: number }[]> => {
      const { json } = await weft.call("GET", `//api/v1.0/documents/${id}/children/?page_size=200`);
      return (json as { results: { id: string; numchild: number }[] }).results;
    };
    const { id: root } = await send("", { title: "root" });
    const created: string[] = [];
    for (let count = 0; count < 6; count += 1) created.push((await send(`${root}/children/`, {})).id);
    const pick = (index: number): string => created[index % created.length] ?? "";
    for (let round = 0; round < 4; round += 1) {
      const [moves, makes] = await Promise.all([
        Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            send(`${pick(index + round)}/move/`, { target_document_id: pick(index * 5 + round + 1) }),
          ),
        ),
        Promise.all(Array.from({ length: 12 }, (_, index) => send(`${pick(index)}/children/`, {}))),
      ]);
      // The target may have become a descendant (400), or the retries are exhausted (409).
      for (const { status } of moves) expect([200, 400, 409]).toContain(status);
      expect(makes.map(({ status }) => status)).toEqual(makes.map(() => 201));
      created.push(...makes.map(({ id }) => id));
    }
    const visited: string[] = [];
    const visit = async (id: string): Promise<number> => {
      const children = await childrenOf(id);
      for (const child of children) {
        visited.push(child.id);
        expect(child.numchild).toBe(await visit(child.id));
      }
      return children.length;
    };
    await visit(root);
    expect(visited.toSorted()).toEqual(created.toSorted());
  });

  it("an invalid token returns 401 with `detail` only", async () => {
    const [one] = cases;
    if (one === undefined) throw new Error("there is no case");
    for (const token of ["nobody", "a".repeat(64), "e30.e30.e30"]) {
      const { status, json } = await send({ ...one, request: { ...one.request, token } });
      expect([token, status, Object.keys(json as object)]).toEqual([token, 401, ["detail"]]);
    }
  });
});
