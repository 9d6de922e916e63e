import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ability } from "../documents/access/abilities.ts";
import type { Handler } from "../http/handler.ts";
import type { Route } from "../http/route.ts";
import { call } from "./call.ts";
import type { Belongings } from "./test-belongings.ts";
import { type TestDeps, type TestDepsOptions, testDeps } from "./test-deps.ts";
import { abilitiesIn, nameOf, SITUATIONS, type Situation, standingIn } from "./test-situations.ts";
import { type Player, type Stage, setStage } from "./test-stage.ts";

/** What a request of a row is made from. */
export interface Asked extends Situation {
  readonly id: string;
  readonly shelf: string;
  /** Id of a user. */
  user(player: Player): string;
}

type Made<Value> = Value | ((asked: Asked) => Value);

/** How one endpoint of a document answers in every situation. Reference 1.0, 2.3. */
export interface Row {
  /** As it is registered: `GET /documents/{id}`. */
  readonly endpoint: string;
  /** What is special about the request, where an endpoint has several rows. */
  readonly about?: string;
  /** Who has it not is denied; null where everybody is answered. */
  readonly ability: Ability | null;
  /** For who may; `denied` is what others are answered. */
  readonly status: number | ((situation: Situation, denied: 401 | 403) => number);
  /** Status for an anonymous caller who lacks the ability, where it is not 401. */
  readonly deniedAnonymous?: 403;
  /** Only for who has a name, whatever the document is. */
  readonly isNamed?: true;
  /** Answered before anything is looked at; undefined where it is looked at. */
  readonly first?: (situation: Situation) => number | undefined;
  /** 404 for all but roots. */
  readonly isOfRoots?: true;
  /** Who does not own what is deleted is denied, and not told that it is not there. */
  readonly deniesDeleted?: true;
  /** Leaves the document as it is, so that all may ask for the same one. */
  readonly reads?: true;
  readonly body?: Made<unknown>;
  readonly query?: Made<Readonly<Record<string, string>>>;
  /** Path parameters besides the document's id. */
  readonly params?: Made<Readonly<Record<string, string>>>;
  /** What belongs to the document of who changes it. */
  readonly needs?: readonly Belongings[];
  /** What an answer to who may says, and what it should. */
  // biome-ignore lint/suspicious/noExplicitAny: a row says what it expects
  readonly says?: (json: any, asked: Asked) => readonly [said: unknown, right: unknown];
}

export const rowName = ({ endpoint, about }: Row): string =>
  about === undefined ? endpoint : `${endpoint}, ${about}`;

/** What is answered, by the table alone. */
export function statusIn(row: Row, situation: Situation): number {
  const { isAuthenticated, role } = standingIn(situation);
  const denied = isAuthenticated ? 403 : (row.deniedAnonymous ?? 401);
  const first = row.first?.(situation);
  if (first !== undefined) return first;
  if (row.isNamed === true && !isAuthenticated) return 401;
  if (situation.state === "gone") return 404;
  if (situation.state !== "live" && role !== "owner") return row.deniesDeleted === true ? denied : 404;
  if (row.isOfRoots === true && situation.place !== "root") return 404;
  if (row.ability !== null && !abilitiesIn(situation)[row.ability]) return denied;
  return typeof row.status === "number" ? row.status : row.status(situation, denied);
}

/** A request as clients make it. */
export interface MatrixRequest {
  readonly method: string;
  /** Parameters of the path, the document's id among them. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly body: unknown;
  /** Null for nobody. */
  readonly token: string | null;
}

const madeFor = <Value>(made: Made<Value> | undefined, asked: Asked): Value | undefined =>
  typeof made === "function" ? (made as (asked: Asked) => Value)(asked) : made;

/** What somebody asks for in a situation, on a document that is only theirs where they change it. */
export async function requestIn(
  row: Row,
  situation: Situation,
  stage: Stage,
): Promise<{ readonly asked: Asked; readonly request: MatrixRequest }> {
  const changes = row.reads !== true && statusIn(row, situation) < 400;
  const id = await (changes ? stage.own(situation, row.needs) : stage.shared(situation));
  const user = (player: Player): string => stage.people.get(player)?.id ?? "";
  const asked: Asked = { ...situation, id, shelf: stage.shelf, user };
  const [method = ""] = row.endpoint.split(" ");
  return {
    asked,
    request: {
      method,
      params: { id, ...madeFor(row.params, asked) },
      query: madeFor(row.query, asked),
      body: madeFor(row.body, asked),
      token: stage.people.get(situation.asker)?.token ?? null,
    },
  };
}

type AnyRoute = Route<unknown, unknown, unknown, unknown, never>;
export interface Registered {
  readonly route: AnyRoute;
  readonly handler: Handler;
}

const FUNCTIONS = fileURLToPath(new URL("../../functions/documents", import.meta.url));

/** Every endpoint of the document service, by method and path: a file in its folder is its registration. */
export async function registeredRoutes(): Promise<ReadonlyMap<string, Registered>> {
  const files = await readdir(FUNCTIONS, { recursive: true });
  const found = new Map<string, Registered>();
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    const registered = (await import(pathToFileURL(join(FUNCTIONS, file)).href)) as Registered;
    found.set(`${registered.route.method} ${registered.route.path}`, registered);
  }
  return found;
}

const A_WHILE_MS = 300;

/** What is answered otherwise than the row says, of all situations. Throws where no such endpoint is registered. */
export async function faultsOf(
  { deps, clock }: Pick<TestDeps, "deps" | "clock">,
  routes: ReadonlyMap<string, Registered>,
  row: Row,
  stage: Stage,
): Promise<string[]> {
  const handler = routes.get(row.endpoint)?.handler;
  if (handler === undefined) throw new Error(`there is no ${row.endpoint}`);
  const wrong: string[] = [];
  for (const situation of SITUATIONS) {
    // What was changed a while ago is not read again for each list.
    clock.advance(A_WHILE_MS);
    const { asked, request } = await requestIn(row, situation, stage);
    const { query, body, ...parts } = request;
    const answer = await call(deps, handler, {
      ...parts,
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
    });
    const fault = faultIn(row, asked, answer.status, () => answer.json);
    if (fault !== undefined) wrong.push(`${nameOf(situation)}: ${fault}`);
  }
  return wrong;
}

/** What is wrong about an answer in a situation; undefined where it is as the row says. */
export function faultIn(row: Row, asked: Asked, status: number, json: () => unknown): string | undefined {
  const right = statusIn(row, asked);
  if (status !== right) return `${status}, not ${right}`;
  if (row.says === undefined || status >= 300) return undefined;
  const [said, wanted] = row.says(json(), asked).map((one) => JSON.stringify(one));
  return said === wanted ? undefined : `it says ${said}, not ${wanted}`;
}

/** Tests each row of a table in every situation, with documents and people of its own. */
export function testRows(what: string, rows: readonly Row[], options: TestDepsOptions = {}): void {
  let test: TestDeps;
  let stage: Stage;
  let routes: ReadonlyMap<string, Registered>;
  beforeAll(async () => {
    test = await testDeps(options);
    stage = await setStage(test);
    routes = await registeredRoutes();
  });
  afterAll(() => test.close());

  describe(what, () => {
    for (const row of rows)
      it(`is as the table says: ${rowName(row)}`, async () => {
        expect(await faultsOf(test, routes, row, stage)).toEqual([]);
      });
  });
}
