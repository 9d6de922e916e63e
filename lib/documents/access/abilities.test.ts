import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ABILITY_ROWS, COLUMNS, expectedAbilities } from "../../testing/test-permissions.ts";
import { expectedStanding, SITUATIONS, situationName } from "../../testing/test-situations.ts";
import { ABILITIES, type Ability, type AccessContext, AI_REACHES, computeAbilities } from "./abilities.ts";
import { equivalentLink, LINK_REACHES, LINK_ROLES, linkSelectOptions } from "./links.ts";
import { higherRole, highestRole, ROLES } from "./roles.ts";

const NOBODY: AccessContext = {
  isAuthenticated: true,
  role: null,
  isDeleted: false,
  isRoot: false,
  isCreator: false,
  hasTrace: false,
  link: { reach: "restricted", role: null },
  ancestorsLink: { reach: null, role: null },
  aiAllowReachFrom: "authenticated",
};
const member = (role: AccessContext["role"], more: Partial<AccessContext> = {}): AccessContext => ({
  ...NOBODY,
  role,
  ...more,
});
const byLink = (role: (typeof LINK_ROLES)[number], more: Partial<AccessContext> = {}): AccessContext => ({
  ...NOBODY,
  link: { reach: "public", role } as const,
  ...more,
});

/** A signed-in user of a child that is not deleted, by column of the table. */
const CONTEXTS: Readonly<Record<(typeof COLUMNS)[number], AccessContext>> = {
  none: NOBODY,
  "link reader": byLink("reader"),
  "link commenter": byLink("commenter"),
  "link editor": byLink("editor"),
  reader: member("reader"),
  commenter: member("commenter"),
  editor: member("editor"),
  administrator: member("administrator"),
  owner: member("owner"),
};
describe("abilities", () => {
  it.each(ABILITY_ROWS)("equal the table for every column: $abilities", ({ abilities, columns }) => {
    expect(columns).toHaveLength(COLUMNS.length);
    const found = COLUMNS.map((column) => computeAbilities(CONTEXTS[column]));
    for (const ability of abilities)
      expect([ability, found.map((one) => (one[ability] ? "x" : "_")).join("")]).toEqual([ability, columns]);
  });

  it("equal the table in every situation", () => {
    const wrong = SITUATIONS.flatMap((situation) => {
      const context = expectedStanding(situation);
      const [found, expected] = [computeAbilities(context), expectedAbilities(context)];
      return ABILITIES.filter((ability) => found[ability] !== expected[ability]).map(
        (ability) => `${situationName(situation)}: ${ability}: ${found[ability]}, not ${expected[ability]}`,
      );
    });
    expect(wrong).toEqual([]);
  });

  it("include exactly the abilities of the table", () => {
    const named = ABILITY_ROWS.flatMap(({ abilities }) => abilities);
    expect(named.toSorted()).toEqual([...ABILITIES]);
    expect(Object.keys(computeAbilities(NOBODY)).toSorted()).toEqual(
      [...ABILITIES, "link_select_options"].toSorted(),
    );
  });

  it("of anonymous users are those of the public link, without personal ones", () => {
    const own: readonly Ability[] = ["duplicate", "favorite", "mask", "children_create", "leave"];
    const ai: readonly Ability[] = ["ai_proxy", "ai_transform", "ai_translate"];
    for (const role of LINK_ROLES) {
      const known = computeAbilities(byLink(role));
      const unknown = computeAbilities(byLink(role, { isAuthenticated: false }));
      for (const ability of ABILITIES)
        expect([ability, unknown[ability]]).toEqual([
          ability,
          known[ability] && !own.includes(ability) && !ai.includes(ability),
        ]);
      const open = computeAbilities(byLink(role, { isAuthenticated: false, aiAllowReachFrom: "public" }));
      expect(open.ai_proxy).toBe(role === "editor");
    }
    const inside = byLink("editor", { link: { reach: "authenticated", role: "editor" } });
    expect(computeAbilities(inside).update).toBe(true);
    expect(computeAbilities({ ...inside, isAuthenticated: false }).retrieve).toBe(false);
  });

  it("limit language models to members if the setting requires it", () => {
    const at = (context: AccessContext) =>
      computeAbilities({ ...context, aiAllowReachFrom: "restricted" }).ai_proxy;
    expect([at(byLink("editor")), at(member("editor")), at(member("owner"))]).toEqual([false, true, true]);
  });

  it("let only an owner see and restore deleted documents", () => {
    for (const role of [null, ...ROLES]) {
      const found = computeAbilities({
        ...byLink("editor"),
        role,
        isDeleted: true,
        isCreator: true,
        hasTrace: true,
      });
      const held = ABILITIES.filter((ability) => found[ability]);
      expect(held).toEqual(role === "owner" ? ["content_retrieve", "restore", "retrieve", "tree"] : []);
    }
  });

  it("let only its owner delete a root, and also its creator delete a child", () => {
    const destroys = (context: AccessContext) => computeAbilities(context).destroy;
    expect(destroys(member("owner", { isRoot: true }))).toBe(true);
    expect(destroys(member("administrator", { isRoot: true, isCreator: true }))).toBe(false);
    expect(destroys(member("editor", { isCreator: true }))).toBe(true);
  });

  it("let users leave a document that is shared with them and that they do not manage", () => {
    expect(computeAbilities({ ...NOBODY, hasTrace: true }).leave).toBe(true);
    expect(computeAbilities(member("owner", { hasTrace: true })).leave).toBe(false);
  });
});

const roleOf = fc.constantFrom(null, ...ROLES);
const linkOf = fc.record({ reach: fc.constantFrom(...LINK_REACHES), role: fc.constantFrom(...LINK_ROLES) });
const standingOf = fc.record({
  isAuthenticated: fc.boolean(),
  isDeleted: fc.boolean(),
  isRoot: fc.boolean(),
  isCreator: fc.boolean(),
  hasTrace: fc.boolean(),
  role: roleOf,
  link: fc.array(linkOf, { maxLength: 5 }).map(equivalentLink),
  ancestorsLink: fc.array(linkOf, { maxLength: 5 }).map(equivalentLink),
  aiAllowReachFrom: fc.constantFrom(...AI_REACHES),
});

describe("rights", () => {
  it("grow with the role, except for leaving", () => {
    fc.assert(
      fc.property(standingOf, roleOf, (context, other) => {
        const more = computeAbilities({ ...context, role: higherRole(context.role, other) });
        const less = computeAbilities(context);
        for (const ability of ABILITIES)
          if (ability !== "leave" && less[ability]) expect(more[ability]).toBe(true);
      }),
    );
  });

  it("never exceed the highest of own, inherited and link roles", () => {
    fc.assert(
      fc.property(fc.array(roleOf), fc.array(linkOf), fc.boolean(), (roles, links, isAuthenticated) => {
        const link = equivalentLink(links);
        const found = computeAbilities({ ...NOBODY, isAuthenticated, role: highestRole(roles), link });
        const reaches = link.reach === "public" || (link.reach === "authenticated" && isAuthenticated);
        const best = [...roles, reaches ? link.role : null];
        expect(found.update).toBe(best.some((role) => role !== null && ROLES.indexOf(role) >= 2));
        expect(found.comment).toBe(best.some((role) => role !== null && ROLES.indexOf(role) >= 1));
        expect(found.retrieve).toBe(best.some((role) => role !== null));
      }),
    );
  });
});

describe("links", () => {
  it("combine to the widest reach and the highest role at that reach", () => {
    expect(equivalentLink([])).toEqual({ reach: null, role: null });
    expect(equivalentLink([{ reach: "restricted", role: "editor" }])).toEqual({
      reach: "restricted",
      role: null,
    });
    expect(
      equivalentLink([
        { reach: "authenticated", role: "editor" },
        { reach: "public", role: "reader" },
        { reach: "public", role: "commenter" },
      ]),
    ).toEqual({ reach: "public", role: "commenter" });
  });

  it("may be set to those of the ancestors and wider", () => {
    expect(linkSelectOptions({ reach: null, role: null })).toEqual({
      restricted: null,
      authenticated: ["reader", "commenter", "editor"],
      public: ["reader", "commenter", "editor"],
    });
    expect(linkSelectOptions({ reach: "authenticated", role: "commenter" })).toEqual({
      authenticated: ["commenter", "editor"],
      public: ["commenter", "editor"],
    });
  });
});
