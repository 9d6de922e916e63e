import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Ability } from "../documents/access/abilities.ts";
import type { Handler } from "../http/handler.ts";
import type { Route } from "../http/route.ts";
import type { TestDeps } from "./test-deps.ts";
import type { DocumentFixtures, Participant } from "./test-document-fixtures.ts";
import type { RecordKind } from "./test-document-records.ts";
import { call } from "./test-handler-call.ts";
import { isExpected } from "./test-permissions.ts";
import { expectedStanding, SITUATIONS, type Situation, situationName } from "./test-situations.ts";

/** The parameters that a row's request is built from. */
export interface RequestContext extends Situation {
  readonly id: string;
  readonly moveTarget: string;
  /** Id of a user. */
  userId(player: Participant): string;
}

type FromContext<Value> = Value | ((asked: RequestContext) => Value);

/** The expected response of one document endpoint in every situation. Reference 1.0, 2.3. */
export interface Row {
  /** Method and path as registered: `GET /documents/{id}`. */
  readonly endpoint: string;
  /** What distinguishes this row, if an endpoint has several. */
  readonly variant?: string;
  /** The required ability; null if everyone may call it. */
  readonly ability: Ability | null;
  /** Status if the ability is present; `denied` is the status without it. */
  readonly status: number | ((situation: Situation, denied: 401 | 403) => number);
  /** Status for anonymous callers without the ability, if not 401. */
  readonly deniedAnonymous?: 403;
  /** Requires an authenticated user, regardless of the document. */
  readonly requiresUser?: true;
  /** A status that takes precedence over the permission check; undefined if there is none. */
  readonly statusBefore?: (situation: Situation) => number | undefined;
  /** 404 for documents other than roots. */
  readonly isRootOnly?: true;
  /** Returns the denied status instead of 404 for deleted documents that the caller does not own. */
  readonly deniesDeleted?: true;
  /** Does not change the document, so that all situations can share one. */
  readonly isReadOnly?: true;
  readonly body?: FromContext<unknown>;
  readonly query?: FromContext<Readonly<Record<string, string>>>;
  /** Path parameters except the document's id. */
  readonly params?: FromContext<Readonly<Record<string, string>>>;
  /** Records that the document of a changing request needs. */
  readonly records?: readonly RecordKind[];
  /** A value of a successful response, and its expected value. */
  // biome-ignore lint/suspicious/noExplicitAny: a row says what it expects
  readonly expects?: (json: any, asked: RequestContext) => readonly [said: unknown, right: unknown];
}

export const rowName = ({ endpoint, variant: about }: Row): string =>
  about === undefined ? endpoint : `${endpoint}, ${about}`;

/** The expected status, from the table only. */
export function expectedStatus(row: Row, situation: Situation): number {
  const context = expectedStanding(situation);
  const { isAuthenticated, role } = context;
  const denied = isAuthenticated ? 403 : (row.deniedAnonymous ?? 401);
  const first = row.statusBefore?.(situation);
  if (first !== undefined) return first;
  if (row.requiresUser === true && !isAuthenticated) return 401;
  if (situation.state === "gone") return 404;
  if (situation.state !== "live" && role !== "owner") return row.deniesDeleted === true ? denied : 404;
  if (row.isRootOnly === true && situation.position !== "root") return 404;
  if (row.ability !== null && !isExpected(row.ability, context)) return denied;
  return typeof row.status === "number" ? row.status : row.status(situation, denied);
}

/** A request as clients send it. */
export interface MatrixRequest {
  readonly method: string;
  /** Path parameters, including the document's id. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly body: unknown;
  /** Null for anonymous callers. */
  readonly token: string | null;
}

const fromContext = <Value>(
  made: FromContext<Value> | undefined,
  asked: RequestContext,
): Value | undefined =>
  typeof made === "function" ? (made as (asked: RequestContext) => Value)(asked) : made;

/** The request of a situation; requests that change the document get their own. */
export async function createRequest(
  row: Row,
  situation: Situation,
  stage: DocumentFixtures,
): Promise<{ readonly asked: RequestContext; readonly request: MatrixRequest }> {
  const changes = row.isReadOnly !== true && expectedStatus(row, situation) < 400;
  const id = await (changes ? stage.createOwn(situation, row.records) : stage.getShared(situation));
  const user = (player: Participant): string => stage.users.get(player)?.id ?? "";
  const asked: RequestContext = { ...situation, id, moveTarget: stage.moveTarget, userId: user };
  const [method = ""] = row.endpoint.split(" ");
  return {
    asked,
    request: {
      method,
      params: { id, ...fromContext(row.params, asked) },
      query: fromContext(row.query, asked),
      body: fromContext(row.body, asked),
      token: stage.users.get(situation.caller)?.token ?? null,
    },
  };
}

type AnyRoute = Route<unknown, unknown, unknown, unknown, never>;
export interface RegisteredRoute {
  readonly route: AnyRoute;
  readonly handler: Handler;
}

const FUNCTIONS = fileURLToPath(new URL("../../functions/documents", import.meta.url));

/** All endpoints of the document service, by method and path. Every file in the folder registers one. */
export async function registeredRoutes(): Promise<ReadonlyMap<string, RegisteredRoute>> {
  const files = await readdir(FUNCTIONS, { recursive: true });
  const found = new Map<string, RegisteredRoute>();
  for (const file of files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))) {
    const registered = (await import(pathToFileURL(join(FUNCTIONS, file)).href)) as RegisteredRoute;
    found.set(`${registered.route.method} ${registered.route.path}`, registered);
  }
  return found;
}

const LIST_REFRESH_MS = 300;

/** Deviations from the row, over all situations. Throws if the endpoint is not registered. */
export async function findRowIssues(
  { deps, clock }: Pick<TestDeps, "deps" | "clock">,
  routes: ReadonlyMap<string, RegisteredRoute>,
  row: Row,
  stage: DocumentFixtures,
): Promise<string[]> {
  const handler = routes.get(row.endpoint)?.handler;
  if (handler === undefined) throw new Error(`unknown endpoint: ${row.endpoint}`);
  const requests = await Promise.all(SITUATIONS.map((situation) => createRequest(row, situation, stage)));
  // Lists do not read changes again that are older than this.
  clock.advance(LIST_REFRESH_MS);
  const wrong = await Promise.all(
    requests.map(async ({ asked, request: { query, body, ...parts } }) => {
      const answer = await call(deps, handler, {
        ...parts,
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
      });
      const fault = findResponseIssue(row, asked, answer.status, () => answer.json);
      return fault === undefined ? [] : [`${situationName(asked)}: ${fault}`];
    }),
  );
  return wrong.flat();
}

/** The deviation of one response; undefined if it is as expected. */
export function findResponseIssue(
  row: Row,
  asked: RequestContext,
  status: number,
  json: () => unknown,
): string | undefined {
  const right = expectedStatus(row, asked);
  if (status !== right) return `${status}, not ${right}`;
  if (row.expects === undefined || status >= 300) return undefined;
  const [said, wanted] = row.expects(json(), asked).map((one) => JSON.stringify(one));
  return said === wanted ? undefined : `it says ${said}, not ${wanted}`;
}
