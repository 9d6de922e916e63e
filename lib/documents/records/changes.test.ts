import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "../../errors.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { grantRole, listChildren, listRoles, readDocument, setLink } from "../../testing/test-documents.ts";
import { readLog } from "../../testing/test-workflows.ts";
import { computeAbilities } from "../access/abilities.ts";
import { equivalentLink, LINK_REACHES, LINK_ROLES, type Link } from "../access/links.ts";
import { highestRole, ROLES, type Role } from "../access/roles.ts";
import { findDocument } from "../authorization/document-access.ts";
import type { StoredUser } from "../tables/users.ts";
import { ancestorsAndSelf, idsOf, readNode } from "../tree/ancestors.ts";
import { isChildPosition, POSITIONS, type Position } from "../tree/move-target.ts";
import { createToken } from "../users/tokens.ts";
import { getOrCreateOwner, getUser } from "../users/users.ts";
import { createChild, createDocument } from "./create.ts";
import { deleteDocument, restoreDocument } from "./delete.ts";
import { moveDocument } from "./move.ts";
import { toTree } from "./record.ts";
import { readTree } from "./tree.ts";

let test: TestDeps;
let own: StoredUser;
let ann: StoredUser;

beforeEach(async () => {
  test = await testDeps();
  own = await getOrCreateOwner(test.deps, "owner@example.com");
  const { record } = await createToken(test.deps, { email: "ann@example.com" });
  ann = await getUser(test.deps, record.user);
});
afterEach(() => test.close());

const create = async (parent?: string): Promise<string> => {
  if (parent === undefined) return (await createDocument(test.deps, own, {})).document.id;
  return (await createChild(test.deps, own, await findDocument(test.deps, own, parent), {})).document.id;
};
const move = (id: string, target_document_id: string, position: Position): Promise<void> =>
  moveDocument(test.deps, own, id, { target_document_id, position });

type Step =
  | { readonly is: "create" | "delete" | "restore"; readonly of: number }
  | { readonly is: "move"; readonly of: number; readonly target: number; readonly position: Position }
  | { readonly is: "grant"; readonly of: number; readonly role: Role }
  | { readonly is: "link"; readonly of: number; readonly link: Link };
const of = fc.nat({ max: 30 });
const link = fc.record({ reach: fc.constantFrom(...LINK_REACHES), role: fc.constantFrom(...LINK_ROLES) });
const moves = fc.record({
  is: fc.constant("move" as const),
  of,
  target: of,
  position: fc.constantFrom(...POSITIONS),
});
const creates = fc.record({ is: fc.constant("create" as const), of });
const trashes = fc.record({ is: fc.constantFrom("delete" as const, "restore" as const), of });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: creates },
  { weight: 6, arbitrary: moves },
  { weight: 2, arbitrary: trashes },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("grant" as const), of, role: fc.constantFrom(...ROLES) }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("link" as const), of, link }) },
);

/** A model with plain maps: each document's parent, position and accesses. */
class Model {
  readonly parents = new Map<string, string | undefined>();
  readonly children = new Map<string, string[]>();
  readonly deleted = new Set<string>();
  /** Documents that were restored from the trash: their position among later siblings is undefined. */
  readonly returned = new Set<string>();
  readonly roles = new Map<string, Map<string, Role>>();
  readonly links = new Map<string, Link>();

  /** Root first. */
  line(id: string): string[] {
    const parent = this.parents.get(id);
    return parent === undefined ? [id] : [...this.line(parent), id];
  }

  isLive = (id: string): boolean => !this.line(id).some((one) => this.deleted.has(one));

  add(id: string, parent: string | undefined): void {
    this.parents.set(id, parent);
    this.children.set(id, []);
    this.roles.set(id, new Map(parent === undefined ? [[own.id, "owner"]] : []));
    if (parent !== undefined) this.children.get(parent)?.push(id);
  }

  move(id: string, target: string, position: Position): void {
    const [before] = this.line(id);
    const wasRoot = this.parents.get(id) === undefined;
    const siblings = this.children.get(this.parents.get(id) ?? "");
    siblings?.splice(siblings.indexOf(id), 1);
    const parent = isChildPosition(position) ? target : this.parents.get(target);
    this.parents.set(id, parent);
    const among = this.children.get(parent ?? "");
    const beside = (among?.indexOf(target) ?? 0) + (position === "right" ? 1 : 0);
    const end = position.startsWith("first") ? 0 : (among?.length ?? 0);
    among?.splice(position === "left" || position === "right" ? beside : end, 0, id);
    const [after] = this.line(id);
    if (!wasRoot && parent !== undefined && after === before) return;
    const heirs = [...(this.roles.get(before ?? "") ?? [])].filter(([, role]) => role === "owner");
    this.roles.set(id, new Map(parent === undefined ? heirs : []));
  }

  roleOf = (id: string, user: string): Role | null =>
    highestRole(this.line(id).map((one) => this.roles.get(one)?.get(user) ?? null));
}

const NO_LINK: Link = { reach: "restricted", role: "reader" };

/** Applies a step to the documents and to the model. */
async function perform(model: Model, ids: string[], one: Step): Promise<void> {
  const id = ids[one.of % Math.max(1, ids.length)];
  if (one.is === "create") {
    // One in four is a root.
    const parent = one.of % 4 === 0 ? undefined : id;
    if (parent !== undefined && !model.isLive(parent)) return;
    const made = await create(parent);
    ids.push(made);
    model.add(made, parent);
  } else if (id === undefined) return;
  else if (one.is === "move") {
    const target = ids[one.target % ids.length] ?? id;
    if (!model.isLive(id) || !model.isLive(target)) return;
    if (model.line(target).includes(id))
      return void (await expect(move(id, target, one.position)).rejects.toThrow("own descendant"));
    await move(id, target, one.position);
    model.move(id, target, one.position);
  } else if (one.is === "delete") {
    if (!model.isLive(id)) return;
    await deleteDocument(test.deps, own, id);
    model.deleted.add(id);
  } else if (one.is === "restore") {
    if (!model.deleted.has(id)) return;
    await restoreDocument(test.deps, own, id);
    model.deleted.delete(id);
    model.returned.add(id);
  } else if (one.is === "grant") {
    if (model.roles.get(id)?.has(ann.id) === true) return;
    await grantRole(test.deps, id, ann.id, one.role);
    model.roles.get(id)?.set(ann.id, one.role);
  } else if (one.is === "link") {
    await setLink(test.deps, id, one.link.reach, one.link.role);
    model.links.set(id, one.link);
  }
}

async function expectAlike(model: Model, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const place = await readNode(test.deps, id);
    if (place === undefined) throw new Error("a document is lost");
    const line = model.line(id);
    expect(idsOf(ancestorsAndSelf(place))).toEqual(line);
    const live = (model.children.get(id) ?? []).filter((one) => !model.deleted.has(one));
    const found = await listChildren(test.deps, id);
    expect(found.toSorted()).toEqual(live.toSorted());
    const neverGone = (one: string): boolean => !model.returned.has(one);
    expect(found.filter(neverGone)).toEqual(live.filter(neverGone));
    const roles = [...(model.roles.get(id) ?? [])];
    expect(place.document).toMatchObject({
      numchild: live.length,
      accesses: roles.length,
      owners: roles.filter(([, role]) => role === "owner").length,
    });
    expect(await listRoles(test.deps, id)).toEqual(roles.map((one) => one.join(" ")).toSorted());
    if (!model.isLive(id)) continue;
    for (const viewer of [own, ann, undefined]) {
      const role = viewer === undefined ? null : model.roleOf(id, viewer.id);
      const links = line.map((one) => model.links.get(one) ?? NO_LINK);
      const seen = await findDocument(test.deps, viewer, id);
      expect(seen.role).toBe(role);
      expect(seen.abilities).toEqual(
        computeAbilities({
          isAuthenticated: viewer !== undefined,
          role,
          isDeleted: false,
          hasTrace: false,
          link: equivalentLink(links),
          ancestorsLink: equivalentLink(links.slice(0, -1)),
          isRoot: line.length === 1,
          isCreator: viewer?.id === own.id,
          aiAllowReachFrom: "authenticated",
        }),
      );
    }
  }
}

describe("any sequence of changes", () => {
  it("leaves each document in its position, and grants only own, inherited and link roles", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async (steps) => {
        const [model, ids] = [new Model(), [] as string[]];
        for (const one of [{ is: "create", of: 0 } as const, ...steps]) {
          test.clock.advance(1);
          await perform(model, ids, one);
        }
        await expectAlike(model, ids);
      }),
      { numRuns: 30 },
    );
  });

  it("is undone by restoring what was deleted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(creates, moves), { maxLength: 15 }), of, async (steps, which) => {
        const [model, ids] = [new Model(), [] as string[]];
        for (const one of [{ is: "create", of: 0 } as const, ...steps]) await perform(model, ids, one);
        const all = async () => {
          const trees = await Promise.all(ids.map((id) => readTree(test.deps, own, id)));
          return JSON.parse(JSON.stringify(trees.map(toTree)), (name, value) =>
            name === "updated_at" ? undefined : value,
          );
        };
        const before = await all();
        const id = ids[which % ids.length] ?? "";
        test.clock.advance(1_000);
        await deleteDocument(test.deps, own, id);
        expect((await findDocument(test.deps, own, id)).deletedAt).not.toBe(null);
        await restoreDocument(test.deps, own, id);
        expect(await all()).toEqual(before);
      }),
      { numRuns: 20 },
    );
  });

  it("by concurrent callers keeps the tree consistent, and reports a conflict to those that fail", async () => {
    const done = { well: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.oneof(moves, moves, creates, trashes), { minLength: 2, maxLength: 4 }), {
          minLength: 2,
          maxLength: 6,
        }),
        async (rounds) => {
          const ids = [await create()];
          for (let n = 0; n < 7; n += 1)
            ids.push(await create(n % 3 === 0 ? undefined : ids[n % ids.length]));
          const act = async (one: Step): Promise<void> => {
            const id = ids[one.of % ids.length] ?? "";
            if (one.is === "move") return move(id, ids[one.target % ids.length] ?? "", one.position);
            if (one.is === "delete") return deleteDocument(test.deps, own, id);
            if (one.is === "restore") return restoreDocument(test.deps, own, id);
            ids.push(await create(one.of % 4 === 0 ? undefined : id));
          };
          for (const round of rounds)
            for (const outcome of await Promise.allSettled(round.map(act))) {
              if (outcome.status === "fulfilled") done.well += 1;
              else {
                done.refused += 1;
                expect(outcome.reason).toBeInstanceOf(ApiError);
                expect(["bad_request", "forbidden", "conflict"]).toContain(outcome.reason.code);
              }
            }
          await expectWhole(ids);
        },
      ),
      { numRuns: 25 },
    );
    expect(Math.min(done.well, done.refused)).toBeGreaterThan(0);
  });
});

/** Each document has one parent, and exactly one parent lists it. */
async function expectWhole(ids: readonly string[]): Promise<void> {
  const documents = await Promise.all(ids.map((id) => readDocument(test.deps, id)));
  for (const { id, numchild } of documents) {
    const place = await readNode(test.deps, id);
    const line = idsOf(place === undefined ? [] : ancestorsAndSelf(place));
    expect(new Set(line).size).toBe(line.length);
    const live = documents.filter(({ parent, deleted_at }) => parent === id && deleted_at === null);
    expect((await listChildren(test.deps, id)).toSorted()).toEqual(idsOf(live).toSorted());
    expect(numchild).toBe(live.length);
  }
}

it.each(Array.from({ length: 12 }, (_, seed) => [seed, 1 + (seed % 3)]))(
  "a move that is cut short is done or not, as a whole (seed %i, commit %i)",
  async (seed, crashAtCommit) => {
    const folder = await mkdtemp(join(tmpdir(), "weft-move-"));
    const clock = testClock();
    const at = async (hostile?: { seed: number; crashAtCommit: number }) => {
      await test.close();
      test = await testDeps({ folder, clock, ...(hostile === undefined ? {} : { hostile }) });
    };
    try {
      await at();
      own = await getOrCreateOwner(test.deps, "owner@example.com");
      const [from, to] = [await create(), await create()];
      const moved = await create(from);
      const leaf = await create(moved);
      await grantRole(test.deps, moved, ann.id, "editor");
      const state = async () => ({
        line: idsOf(
          ancestorsAndSelf(
            (await readNode(test.deps, leaf)) ?? {
              document: await readDocument(test.deps, leaf),
              ancestors: [],
            },
          ),
        ),
        children: [await listChildren(test.deps, from), await listChildren(test.deps, to)],
        counted: [
          (await readDocument(test.deps, from)).numchild,
          (await readDocument(test.deps, to)).numchild,
        ],
        accesses: [(await readDocument(test.deps, moved)).accesses, await listRoles(test.deps, moved)],
        rightful: (await findDocument(test.deps, ann, leaf)).role,
        told: (await readLog(test.deps)).records.filter(({ topic }) => topic === "documents.moved").length,
      });
      const before = await state();
      const after = {
        line: [to, moved, leaf],
        children: [[], [moved]],
        counted: [0, 1],
        accesses: [0, []],
        rightful: null,
        told: 1,
      };
      await at({ seed, crashAtCommit });
      const outcome = await move(moved, to, "last-child").then(
        () => "done",
        (error: unknown) => (isCrash(error) ? "crashed" : Promise.reject(error)),
      );
      await at();
      const found = await state();
      expect([before, after]).toContainEqual(found);
      if (outcome === "done") expect(found).toEqual(after);
      if (found.told === 0) await move(moved, to, "last-child");
      expect(await state()).toEqual(after);
    } finally {
      await test.close();
      await rm(folder, { recursive: true, force: true });
      test = await testDeps();
    }
  },
);
