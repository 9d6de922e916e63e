import fc from "fast-check";
import { LINK_REACHES, LINK_ROLES } from "../documents/access/links.ts";
import { ROLES } from "../documents/access/roles.ts";
import { accessId } from "../documents/tables/accesses.ts";
import { POSITIONS } from "../documents/tree/move-target.ts";
import { type Called, call } from "./call.ts";
import type { TestDeps } from "./test-deps.ts";
import { type Person, person } from "./test-documents.ts";
import { type Registered, registeredRoutes } from "./test-matrix.ts";

/** People who share documents over HTTP; the last viewer is nobody. */
export const VIEWERS = ["ann", "ben", "cat", "nobody"] as const;
export type Viewer = (typeof VIEWERS)[number];
export type User = Exclude<Viewer, "nobody">;

/** Something that somebody tries; documents are numbers, to be counted on those that there are. */
const who = fc.constantFrom<User>("ann", "ann", "ann", "ben", "ben", "cat");
const which = fc.nat({ max: 1000 });
const DEEDS = {
  create: fc.record({ is: fc.constant("create"), who, title: fc.constantFrom("one", "Two", "three") }),
  child: fc.record({ is: fc.constant("child"), who, which, title: fc.constantFrom("one", "Two", "three") }),
  move: fc.record({
    ...{ is: fc.constant("move"), who, which, to: which },
    position: fc.constantFrom(...POSITIONS),
  }),
  delete: fc.record({ is: fc.constant("delete"), who, which }),
  restore: fc.record({ is: fc.constant("restore"), who, which }),
  give: fc.record({
    ...{ is: fc.constant("give"), who, which },
    ...{ whom: fc.constantFrom<User>("ann", "ben", "cat"), role: fc.constantFrom(...ROLES) },
  }),
  take: fc.record({
    ...{ is: fc.constant("take"), who, which },
    whom: fc.constantFrom<User>("ann", "ben", "cat"),
  }),
  link: fc.record({
    ...{ is: fc.constant("link"), who, which },
    ...{ reach: fc.constantFrom(...LINK_REACHES), role: fc.constantFrom(...LINK_ROLES) },
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
type DeedName = keyof typeof DEEDS;
type DeedOf<Name extends DeedName> =
  (typeof DEEDS)[Name] extends fc.Arbitrary<infer One> ? Omit<One, "is"> & { readonly is: Name } : never;
export type Deed = { [Name in DeedName]: DeedOf<Name> }[DeedName];

/** A deed, each as often as its weight says. */
export const deedOf = (weights: Readonly<Partial<Record<DeedName, number>>>): fc.Arbitrary<Deed> =>
  fc.oneof(
    ...Object.entries(weights).map(([name, weight]) => ({
      ...{ weight, arbitrary: DEEDS[name as DeedName] as unknown as fc.Arbitrary<Deed> },
    })),
  );

interface Parts {
  readonly id?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
}

/** Documents of three people who know nothing of each other at first. */
export interface World {
  readonly users: ReadonlyMap<Viewer, Person>;
  /** All that were ever made, oldest first. */
  readonly ids: string[];
  /** The document that a number means; undefined where there is none yet. */
  pick(which: number): string | undefined;
  /** `ask("GET /documents/{id}", "ann", { id })`. */
  ask(endpoint: string, who: Viewer, parts?: Parts): Promise<Called>;
  /** Undefined where there is no document yet. */
  try(deed: Deed): Promise<Called | undefined>;
}

let worlds = 0;

export async function newWorld({ deps }: Pick<TestDeps, "deps">): Promise<World> {
  const routes: ReadonlyMap<string, Registered> = await registeredRoutes();
  worlds += 1;
  const users = new Map<Viewer, Person>();
  for (const name of VIEWERS.slice(0, -1)) users.set(name, await person(deps, `${name}-${worlds}`));
  const ids: string[] = [];
  const pick = (number: number): string | undefined => ids[number % Math.max(1, ids.length)];

  const ask: World["ask"] = (endpoint, who, { id, params, body, query } = {}) => {
    const handler = routes.get(endpoint)?.handler;
    if (handler === undefined) throw new Error(`there is no ${endpoint}`);
    return call(deps, handler, {
      ...{ token: users.get(who)?.token ?? null, params: { ...(id === undefined ? {} : { id }), ...params } },
      ...(body === undefined ? {} : { body }),
      ...(query === undefined ? {} : { query }),
    });
  };
  const made = async (answer: Called): Promise<Called> => {
    if (answer.status === 201) ids.push(answer.json.id);
    return answer;
  };

  const attempt: World["try"] = async (deed) => {
    if (deed.is === "create")
      return made(await ask("POST /documents", deed.who, { body: { title: deed.title } }));
    const id = pick(deed.which);
    if (id === undefined) return undefined;
    const of = (endpoint: string, parts: Parts = {}) =>
      ask(endpoint.replace(" ", " /documents/{id}"), deed.who, { id, ...parts });
    switch (deed.is) {
      case "child":
        return made(await of("POST /children", { body: { title: deed.title } }));
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
        return made(await of("POST /duplicate", { body }));
      }
    }
  };
  return { users, ids, pick, ask, try: attempt };
}
