import fc from "fast-check";
import { LINK_REACHES, LINK_ROLES } from "../documents/access/links.ts";
import { ROLES } from "../documents/access/roles.ts";
import { accessId } from "../documents/tables/accesses.ts";
import { POSITIONS } from "../documents/tree/move-target.ts";
import type { TestDeps } from "./test-deps.ts";
import { createUser, type TestUser } from "./test-documents.ts";
import { type CallResult, call } from "./test-handler-call.ts";
import { type RegisteredRoute, registeredRoutes } from "./test-matrix.ts";

/** Users who share documents over HTTP; the last viewer is anonymous. */
export const VIEWERS = ["ann", "ben", "cat", "nobody"] as const;
export type Viewer = (typeof VIEWERS)[number];
export type User = Exclude<Viewer, "nobody">;

/** Operations; a document is a number, an index modulo the number of documents. */
const who = fc.constantFrom<User>("ann", "ann", "ann", "ben", "ben", "cat");
const which = fc.nat({ max: 1000 });
const OPERATIONS = {
  create: fc.record({ is: fc.constant("create"), who, title: fc.constantFrom("one", "Two", "three") }),
  child: fc.record({ is: fc.constant("child"), who, which, title: fc.constantFrom("one", "Two", "three") }),
  move: fc.record({
    is: fc.constant("move"),
    who,
    which,
    to: which,
    position: fc.constantFrom(...POSITIONS),
  }),
  delete: fc.record({ is: fc.constant("delete"), who, which }),
  restore: fc.record({ is: fc.constant("restore"), who, which }),
  give: fc.record({
    is: fc.constant("give"),
    who,
    which,
    whom: fc.constantFrom<User>("ann", "ben", "cat"),
    role: fc.constantFrom(...ROLES),
  }),
  take: fc.record({
    is: fc.constant("take"),
    who,
    which,
    whom: fc.constantFrom<User>("ann", "ben", "cat"),
  }),
  link: fc.record({
    is: fc.constant("link"),
    who,
    which,
    reach: fc.constantFrom(...LINK_REACHES),
    role: fc.constantFrom(...LINK_ROLES),
  }),
  open: fc.record({ is: fc.constant("open"), who, which }),
  favorite: fc.record({ is: fc.constant("favorite"), who, which }),
  unfavorite: fc.record({ is: fc.constant("unfavorite"), who, which }),
  mask: fc.record({ is: fc.constant("mask"), who, which }),
  unmask: fc.record({ is: fc.constant("unmask"), who, which }),
  leave: fc.record({ is: fc.constant("leave"), who, which }),
  rename: fc.record({ is: fc.constant("rename"), who, which, title: fc.constantFrom("one", "four") }),
  duplicate: fc.record({ is: fc.constant("duplicate"), who, which, whole: fc.boolean() }),
} as const;
type OperationName = keyof typeof OPERATIONS;
type OperationOf<Name extends OperationName> =
  (typeof OPERATIONS)[Name] extends fc.Arbitrary<infer One> ? Omit<One, "is"> & { readonly is: Name } : never;
export type Operation = { [Name in OperationName]: OperationOf<Name> }[OperationName];

/** An arbitrary operation, by weight. */
export const arbitraryOperation = (
  weights: Readonly<Partial<Record<OperationName, number>>>,
): fc.Arbitrary<Operation> =>
  fc.oneof(
    ...Object.entries(weights).map(([name, weight]) => ({
      weight,
      arbitrary: OPERATIONS[name as OperationName] as unknown as fc.Arbitrary<Operation>,
    })),
  );

interface Parts {
  readonly id?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
}

/** Documents of three users who share nothing at first. */
export interface SharingScenario {
  readonly users: ReadonlyMap<Viewer, TestUser>;
  /** All documents ever created, oldest first. */
  readonly ids: string[];
  /** The document of a number; undefined if there is none yet. */
  documentAt(which: number): string | undefined;
  /** `request("GET /documents/{id}", "ann", { id })`. */
  request(endpoint: string, who: Viewer, parts?: Parts): Promise<CallResult>;
  /** Undefined if there is no document yet. */
  perform(deed: Operation): Promise<CallResult | undefined>;
}

let scenarios = 0;

export async function createScenario({ deps }: Pick<TestDeps, "deps">): Promise<SharingScenario> {
  const routes: ReadonlyMap<string, RegisteredRoute> = await registeredRoutes();
  scenarios += 1;
  const users = new Map<Viewer, TestUser>();
  for (const name of VIEWERS.slice(0, -1)) users.set(name, await createUser(deps, `${name}-${scenarios}`));
  const ids: string[] = [];
  const pick = (number: number): string | undefined => ids[number % Math.max(1, ids.length)];

  const ask: SharingScenario["request"] = (endpoint, who, { id, params, body, query } = {}) => {
    const handler = routes.get(endpoint)?.handler;
    if (handler === undefined) throw new Error(`unknown endpoint: ${endpoint}`);
    return call(deps, handler, {
      token: users.get(who)?.token ?? null,
      params: { ...(id === undefined ? {} : { id }), ...params },
      ...(body === undefined ? {} : { body }),
      ...(query === undefined ? {} : { query }),
    });
  };
  const recordCreated = async (answer: CallResult): Promise<CallResult> => {
    if (answer.status === 201) ids.push(answer.json.id);
    return answer;
  };

  const perform: SharingScenario["perform"] = async (deed) => {
    if (deed.is === "create")
      return recordCreated(await ask("POST /documents", deed.who, { body: { title: deed.title } }));
    const id = pick(deed.which);
    if (id === undefined) return undefined;
    const of = (endpoint: string, parts: Parts = {}) =>
      ask(endpoint.replace(" ", " /documents/{id}"), deed.who, { id, ...parts });
    switch (deed.is) {
      case "child":
        return recordCreated(await of("POST /children", { body: { title: deed.title } }));
      case "move": {
        const body = { target_document_id: pick(deed.to), position: deed.position };
        return of("POST /move", { body });
      }
      case "delete":
        return of("DELETE ");
      case "restore":
        return of("POST /restore");
      case "give":
        return of("POST /accesses", { body: { user_id: users.get(deed.whom)?.id, role: deed.role } });
      case "take": {
        const user = users.get(deed.whom)?.id ?? "";
        return of("DELETE /accesses/{accessId}", { params: { accessId: accessId(id, { user }) } });
      }
      case "link": {
        const link_role = deed.reach === "restricted" ? null : deed.role;
        return of("PUT /link-configuration", { body: { link_reach: deed.reach, link_role } });
      }
      case "open":
        return of("GET ");
      case "favorite":
      case "mask":
        return of(`POST /${deed.is}`);
      case "unfavorite":
      case "unmask":
        return of(`DELETE /${deed.is.replace("un", "")}`);
      case "leave":
        return of("POST /leave");
      case "rename":
        return of("PATCH ", { body: { title: deed.title } });
      case "duplicate": {
        const body = { with_descendants: deed.whole, with_accesses: deed.whole };
        return recordCreated(await of("POST /duplicate", { body }));
      }
    }
  };
  return { users, ids, documentAt: pick, request: ask, perform: perform };
}
