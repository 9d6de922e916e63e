import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Deps } from "#lib/deps.ts";
import type { Ability } from "#lib/documents/access/abilities.ts";
import { type Handler, toHandler } from "#lib/http/handler.ts";
import type { Route } from "#lib/http/route.ts";
import { call } from "#lib/testing/call.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { stored } from "#lib/testing/test-documents.ts";
import {
  abilitiesIn,
  nameOf,
  SITUATIONS,
  type Situation,
  type Stage,
  setStage,
  standingIn,
} from "#lib/testing/test-situations.ts";
import { route as configureLink } from "./documents/configure-link.ts";
import { route as createChild } from "./documents/create-child.ts";
import { route as remove } from "./documents/delete.ts";
import { route as duplicate } from "./documents/duplicate.ts";
import { route as get } from "./documents/get.ts";
import { route as listChildren } from "./documents/list-children.ts";
import { route as move } from "./documents/move.ts";
import { route as replace } from "./documents/replace.ts";
import { route as restore } from "./documents/restore.ts";
import { route as getTree } from "./documents/tree.ts";
import { route as update } from "./documents/update.ts";

interface Options {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  /** Path parameters besides the document's id. */
  readonly params?: Readonly<Record<string, string>>;
  /** Status for who may, where it is not always the route's own. */
  readonly done?: (situation: Situation) => number;
  /** Status for who may not look at what is deleted; 404 else. */
  readonly deleted?: "as denied";
  /** It leaves the document as it is; what is read does so anyway. */
  readonly keeps?: boolean;
}

interface Endpoint extends Options {
  readonly name: string;
  readonly handler: Handler;
  readonly route: Pick<Route, "auth" | "status" | "method">;
  readonly ability: Ability;
}

const endpoint = <P, Q, B, R>(
  route: Route<P, Q, B, R, Deps>,
  ability: Ability,
  options: Options = {},
): Endpoint => ({
  ...{ name: `${route.method} ${route.path}`, route, ability, ...options },
  handler: toHandler(route, () => Promise.reject(new Error("the test hands over what it needs"))),
});

const SHELF = "the shelf";
const whereDeleted = ({ state }: Situation): number => (state === "deleted" ? 200 : 400);

/** Every endpoint of a document, and the ability that it asks for: one line each. */
const ENDPOINTS: readonly Endpoint[] = [
  endpoint(get, "retrieve", { keeps: false }),
  endpoint(replace, "update", { body: { title: "x" } }),
  endpoint(update, "partial_update", { body: { title: "x" } }),
  endpoint(remove, "destroy"),
  endpoint(restore, "restore", { done: whereDeleted }),
  endpoint(listChildren, "children_list"),
  endpoint(createChild, "children_create", { body: {} }),
  endpoint(getTree, "tree", { deleted: "as denied" }),
  endpoint(move, "move", { body: { target_document_id: SHELF } }),
  endpoint(duplicate, "duplicate", { body: { with_accesses: true, with_descendants: true } }),
  endpoint(configureLink, "link_configuration", { body: { link_reach: "public", link_role: "editor" } }),
];

/** What is answered, by the table alone. Reference 1.0, 2.3. */
function expected({ route, ability, done, deleted }: Endpoint, situation: Situation): number {
  const { isAuthenticated, role } = standingIn(situation);
  const refused = isAuthenticated ? 403 : 401;
  if (route.auth === "token" && !isAuthenticated) return 401;
  if (situation.state === "gone") return 404;
  if (situation.state !== "live" && role !== "owner") return deleted === undefined ? 404 : refused;
  if (!abilitiesIn(situation)[ability]) return refused;
  return done?.(situation) ?? route.status;
}

let test: TestDeps;
let stage: Stage;
beforeAll(async () => {
  test = await testDeps();
  stage = await setStage(test);
});
afterAll(() => test.close());

async function ask(
  { handler, route, keeps = route.method === "GET", body, query, params }: Endpoint,
  situation: Situation,
  status: number,
) {
  // Whoever changes a document has one of their own.
  const changes = !keeps && status < 400;
  const id = await (changes ? stage.own(situation) : stage.shared(situation));
  const token = stage.people.get(situation.asker)?.token ?? null;
  const text = body === undefined ? undefined : JSON.stringify(body).replace(SHELF, stage.shelf);
  return call(test.deps, handler, {
    ...{ params: { id, ...params }, token },
    ...(text === undefined ? {} : { body: text }),
    ...(query === undefined ? {} : { query }),
  });
}

describe("who may do what", () => {
  for (const one of ENDPOINTS)
    it(`is as the table says: ${one.name}`, async () => {
      const wrong: string[] = [];
      for (const situation of SITUATIONS) {
        const status = expected(one, situation);
        const answer = await ask(one, situation, status);
        if (answer.status !== status)
          wrong.push(`${nameOf(situation)}: ${answer.status}, not ${status} ${answer.text.slice(0, 100)}`);
      }
      expect(wrong).toEqual([]);
    });

  it("is told with the document, each ability by its name", async () => {
    const [detail] = ENDPOINTS;
    if (detail === undefined) throw new Error("there is no endpoint");
    for (const situation of SITUATIONS) {
      if (expected(detail, situation) !== 200) continue;
      const { json } = await ask(detail, situation, 200);
      expect({ of: nameOf(situation), abilities: json.abilities }).toEqual({
        of: nameOf(situation),
        abilities: abilitiesIn(situation),
      });
    }
  });

  it("is the same in lists and trees as on each document's own page", async () => {
    const of = async <P, Q, B, R>(one: Route<P, Q, B, R, Deps>, id: string, { asker }: Situation) => {
      const token = stage.people.get(asker)?.token ?? null;
      return call(test.deps, endpoint(one, "retrieve").handler, { params: { id }, token });
    };
    interface Node {
      readonly id: string;
      readonly children?: readonly Node[];
    }
    const all = ({ children = [], ...shown }: Node): Node[] => [shown, ...children.flatMap(all)];
    for (const situation of SITUATIONS) {
      const id = await stage.own(situation);
      const { parent } = await stored(test.deps, id);
      const list = parent === null ? undefined : await of(listChildren, parent, situation);
      const tree = await of(getTree, id, situation);
      const listed: Node[] = list?.status === 200 ? list.json.results : [];
      const shown: Node[] = [...listed, ...(tree.status === 200 ? all(tree.json) : [])];
      const pages = new Map<string, Node>();
      for (const node of shown) {
        const page = pages.get(node.id) ?? (await of(get, node.id, situation)).json;
        pages.set(node.id, page);
        expect({ of: nameOf(situation), ...node }).toEqual({ of: nameOf(situation), ...page });
      }
      const isListed = list?.status === 200 && situation.state === "live";
      expect([nameOf(situation), listed.length]).toEqual([nameOf(situation), isListed ? 1 : 0]);
    }
  });
});
