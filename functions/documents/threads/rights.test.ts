import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LINK_ROLES } from "#lib/documents/access/links.ts";
import { ROLES } from "#lib/documents/access/roles.ts";
import { planInitialAccess } from "#lib/documents/grants/grants.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { commentKey, commentsTable, threadKey, threadsTable } from "#lib/documents/tables/threads.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as createChild } from "../documents/create-child.ts";
import { route as addReaction } from "./add-reaction.ts";
import { route as create } from "./create.ts";
import { route as createComment } from "./create-comment.ts";
import { route as remove } from "./delete.ts";
import { route as deleteComment } from "./delete-comment.ts";
import { route as get } from "./get.ts";
import { route as getComment } from "./get-comment.ts";
import { route as list } from "./list.ts";
import { route as listComments } from "./list-comments.ts";
import { route as removeReaction } from "./remove-reaction.ts";
import { route as replaceComment } from "./replace-comment.ts";
import { route as resolve } from "./resolve.ts";
import { route as unresolve } from "./unresolve.ts";
import { route as updateComment } from "./update-comment.ts";

const PEOPLE = [...ROLES, "stranger", "anonymous"] as const;
type Person = (typeof PEOPLE)[number];
const LINKS = [
  { reach: "restricted", role: "reader" },
  ...["authenticated", "public"].flatMap((reach) => LINK_ROLES.map((role) => ({ reach, role }))),
] as const;
type Link = (typeof LINKS)[number];

let test: TestDeps;
const users = new Map<Person, { id: string; token: string }>();
beforeAll(async () => {
  test = await testDeps();
  for (const person of PEOPLE.slice(0, -1)) {
    const made = await createToken(test.deps, { email: `${person}@example.com` });
    users.set(person, { id: made.record.user, token: made.token });
  }
});
afterAll(() => test.close());

const ask = (route: unknown, params: Readonly<Record<string, string>>, body: unknown, token: string | null) =>
  call(test.deps, route as typeof create, { params, token, ...(body === undefined ? {} : { body }) });
const set = (id: string, what: Record<string, string>) =>
  test.deps.tables.update(documentsTable, documentKey(id), { set: what });

/** A child whose permissions are its own or inherited. */
async function documentWith(link: Link, where: "own" | "inherited"): Promise<{ root: string; id: string }> {
  const root = (await call(test.deps, createDocument, { body: {} })).body.id;
  const { id } = (await call(test.deps, createChild, { params: { id: root }, body: {} })).body;
  const at = where === "own" ? id : root;
  await set(at, { link_reach: link.reach, link_role: link.role });
  for (const role of ROLES)
    await test.deps.tables.write(planInitialAccess(test.deps, at, users.get(role)?.id ?? "", role));
  return { root, id };
}

/** A thread with a comment, both by this person whatever their permissions; by the owner if there is no person. */
async function threadOf(id: string, person: Person | undefined): Promise<Path> {
  const { body } = await ask(create, { id }, { body: "text" }, TEST_TOKEN);
  const path = { id, thread: body.id, comment: body.comments[0].id };
  if (person === undefined) return path;
  const user = users.get(person)?.id ?? null;
  await test.deps.tables.update(threadsTable, threadKey(id, path.thread), { set: { creator: user } });
  await test.deps.tables.update(commentsTable, commentKey(id, path.thread, path.comment), { set: { user } });
  return path;
}

interface Path extends Readonly<Record<string, string>> {
  readonly id: string;
  readonly thread: string;
  readonly comment: string;
}
type Needs = "comment" | "name" | "own" | "own or manage";
/** Every endpoint: its requirement in addition to the right to comment, and its status then. */
const ENDPOINTS: readonly (readonly [
  name: string,
  route: unknown,
  needs: Needs,
  status: number,
  body?: unknown,
])[] = [
  ["list", list, "comment", 200],
  ["create", create, "comment", 201, { body: 1 }],
  ["get", get, "comment", 200],
  ["resolve", resolve, "own or manage", 204],
  ["unresolve", unresolve, "own or manage", 204],
  ["listComments", listComments, "comment", 200],
  ["createComment", createComment, "comment", 201, { body: 1 }],
  ["getComment", getComment, "comment", 200],
  ["replaceComment", replaceComment, "own", 200, { body: 1 }],
  ["updateComment", updateComment, "own", 200, { body: 1 }],
  ["addReaction", addReaction, "name", 201, { emoji: "👍" }],
  ["removeReaction", removeReaction, "name", 204, { emoji: "👍" }],
  ["deleteComment", deleteComment, "own or manage", 204],
  ["remove", remove, "own or manage", 204],
];

/** The expected status according to the reference. Reference 1.12, 2.3. */
function statusOf(
  person: Person,
  link: Link,
  deleted: boolean,
  own: boolean,
  [, , needs, status]: (typeof ENDPOINTS)[number],
): number {
  const isNamed = person !== "anonymous";
  const isMember = person !== "stranger" && isNamed;
  const reached = link.reach === "public" || (link.reach === "authenticated" && isNamed);
  const comments = (isMember && person !== "reader") || (reached && link.role !== "reader");
  const manages = person === "administrator" || person === "owner";
  const may = {
    comment: true,
    name: isNamed,
    own: own && isNamed,
    "own or manage": (own && isNamed) || manages,
  }[needs];
  if (deleted && person !== "owner") return 404;
  return !deleted && comments && may ? status : isNamed ? 403 : 401;
}

describe.each(LINKS)("threads of a document whose link is $reach, $role,", (link) => {
  it.each(["own", "inherited"] as const)(
    "require the right to comment from its %s permissions",
    async (where) => {
      const { id, root } = await documentWith(link, where);
      const paths = new Map<string, Path>();
      for (const person of PEOPLE)
        for (const own of [true, false])
          paths.set(`${person} ${own}`, await threadOf(id, own ? person : undefined));
      for (const deleted of [true, false]) {
        if (deleted)
          await set(where === "own" ? id : root, { deleted_at: new Date(test.clock.now()).toISOString() });
        else
          for (const one of [id, root])
            await test.deps.tables.update(documentsTable, documentKey(one), { set: { deleted_at: null } });
        for (const person of PEOPLE) {
          const token = users.get(person)?.token ?? null;
          for (const own of [true, false]) {
            const path = paths.get(`${person} ${own}`) ?? { id, thread: "", comment: "" };
            const said = deleted ? undefined : (await ask(get, path, undefined, token)).body;
            for (const endpoint of ENDPOINTS) {
              const [name, route, , , body] = endpoint;
              const expected = statusOf(person, link, deleted, own, endpoint);
              const { status } = await ask(route, path, body, token);
              const told = `${person} ${own ? "own" : "other's"} ${deleted ? "deleted" : "live"} ${name}`;
              expect(`${told}: ${status}`).toBe(`${told}: ${expected}`);
              if (deleted || said.abilities === undefined) continue;
              const may = said.abilities;
              const mayComment = said.comments[0].abilities;
              const tells = { remove: may.destroy, resolve: may.resolve, unresolve: may.unresolve };
              const more = { deleteComment: mayComment.destroy, updateComment: mayComment.update };
              const ability = { ...tells, ...more, addReaction: mayComment.reactions }[name];
              if (ability !== undefined) expect(`${told}: ${ability}`).toBe(`${told}: ${status < 300}`);
            }
          }
        }
      }
    },
  );
});
