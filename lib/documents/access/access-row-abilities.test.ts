import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { type AccessRowContext, computeAccessRowAbilities } from "./access-row-abilities.ts";
import { isPrivileged, ROLES, type Role } from "./roles.ts";

const CALLERS: readonly (Role | null)[] = [null, ...ROLES];
const ABOVE: readonly (Role | null)[] = [null, ...ROLES];
const standings: AccessRowContext[] = CALLERS.flatMap((callerRole) =>
  ROLES.flatMap((role) =>
    ABOVE.flatMap((maxAncestorsRole) =>
      [true, false].flatMap((isRoot) =>
        [1, 2].flatMap((owners) =>
          [true, false].map((isOwn) => ({ callerRole, role, maxAncestorsRole, isRoot, owners, isOwn })),
        ),
      ),
    ),
  ),
);

/** The roles that an administrator and an owner may choose, by the user's inherited role. */
const CHOICES: Readonly<Record<string, readonly [administrator: string, owner: string]>> = {
  null: ["reader commenter editor administrator", "reader commenter editor administrator owner"],
  reader: ["reader commenter editor administrator", "reader commenter editor administrator owner"],
  commenter: ["commenter editor administrator", "commenter editor administrator owner"],
  editor: ["editor administrator", "editor administrator owner"],
  administrator: ["", "administrator owner"],
  owner: ["", ""],
};

function expectedAbilities(context: AccessRowContext) {
  const { callerRole, role, maxAncestorsRole, isRoot, owners, isOwn } = context;
  const isLastOfRoot = role === "owner" && isRoot && owners === 1;
  const destroy = { administrator: role !== "owner", owner: !isLastOfRoot }[String(callerRole)] ?? false;
  const [forAdministrator, forOwner] = CHOICES[String(maxAncestorsRole)]!;
  const said = callerRole === "owner" ? forOwner : forAdministrator;
  const set_role_to = destroy && said !== "" ? said.split(" ") : [];
  return {
    destroy,
    set_role_to,
    update: set_role_to.length > 0,
    partial_update: set_role_to.length > 0,
    retrieve: isOwn || isPrivileged(callerRole),
  };
}

describe("an access row, for every user and role", () => {
  it("has all combinations", () => expect(standings).toHaveLength(6 * 5 * 6 * 2 * 2 * 2));

  it("has exactly the specified abilities", () => {
    const wrong = standings.flatMap((context) => {
      const [found, expected] = [computeAccessRowAbilities(context), expectedAbilities(context)];
      return isDeepStrictEqual(found, expected) ? [] : [{ context, found, expected }];
    });
    expect(wrong).toEqual([]);
  });

  it("never permits a role above the caller's own or below the inherited one", () => {
    for (const context of standings) {
      const { set_role_to } = computeAccessRowAbilities(context);
      for (const role of set_role_to) {
        expect(ROLES.indexOf(role)).toBeLessThanOrEqual(CALLERS.indexOf(context.callerRole) - 1);
        expect(ROLES.indexOf(role)).toBeGreaterThanOrEqual(ABOVE.indexOf(context.maxAncestorsRole) - 1);
      }
    }
  });
});
