import * as z from "zod";
import { ApiError } from "../../errors.ts";
import {
  LINK_REACHES,
  LINK_ROLES,
  type LinkReach,
  type LinkRole,
  type LinkSelectOptions,
} from "../access/links.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { type CommitDeps, commitChange } from "../changes/commit.ts";
import { linkEvent } from "../events/document-event.ts";
import { documentKey, documentsTable } from "../tables/documents.ts";

/** Body of link settings. Reference 1.6. */
export const linkBody = z.object({
  link_reach: z.enum(LINK_REACHES).describe("Not more restricted than the ancestors"),
  link_role: z.enum(LINK_ROLES).nullish().describe("Required unless the reach is `restricted`"),
});
export type LinkBody = z.infer<typeof linkBody>;

export interface LinkSettings {
  readonly link_reach: LinkReach;
  readonly link_role: LinkRole;
}

/**
 * Sets a document's link reach and role. Throws `not_found`, `unauthorized`, `forbidden`; `bad_request` if they are
 * more restricted than the ancestors' link. Reference 1.6.
 */
export async function configureLink(
  deps: CommitDeps & AuthorizationDeps,
  viewer: Viewer,
  id: string,
  { link_reach, link_role }: LinkBody,
): Promise<LinkSettings> {
  return commitChange(deps, async () => {
    const { document, abilities } = await authorize(deps, viewer, id, "link_configuration");
    checkLink(abilities.link_select_options, link_reach, link_role ?? null);
    const set: LinkSettings = { link_reach, link_role: link_role ?? document.link_role };
    const updated_at = new Date(deps.clock.now()).toISOString();
    return {
      writes: [
        {
          op: "update",
          table: documentsTable,
          key: documentKey(id),
          change: { set: { ...set, updated_at }, add: { revision: 1 } },
          when: [
            ["position_version", "=", document.position_version],
            ["deleted_at", "=", null],
          ],
        },
      ],
      events:
        link_reach === document.link_reach && set.link_role === document.link_role
          ? []
          : [linkEvent(document, viewer, set)],
      result: set,
    };
  });
}

function checkLink(options: LinkSelectOptions, reach: LinkReach, role: LinkRole | null): void {
  const roles = options[reach];
  if (roles === undefined)
    throw refused(
      "link_reach",
      `Link reach '${reach}' is not allowed based on parent document configuration.`,
    );
  if (roles === null) {
    if (role !== null)
      throw refused(
        "link_role",
        "Cannot set link_role when link_reach is 'restricted'. Link role must be null for restricted reach.",
      );
  } else if (role === null || !roles.includes(role))
    throw refused(
      "link_role",
      // The API prints a missing role as None.
      `Link role '${role ?? "None"}' is not allowed for link reach '${reach}'. Allowed roles: ${roles.join(", ")}`,
    );
}

const refused = (field: "link_reach" | "link_role", message: string): ApiError =>
  new ApiError("bad_request", message, { body: { [field]: [message] } });
