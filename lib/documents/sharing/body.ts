import * as z from "zod";
import { ROLES } from "../access/roles.ts";
import { textField } from "../fields.ts";

const TEAM_MAX_LENGTH = 100;

const id = z.guid().transform((text) => text.toLowerCase());

/** Body of an access: a user or a team. Reference 1.9. */
export const accessBody = z.object({
  user_id: z
    .guid("Must be a valid UUID.")
    .transform((text) => text.toLowerCase())
    .nullish(),
  team: textField(TEAM_MAX_LENGTH)
    .nullish()
    .transform((team) => team || null),
  role: z.enum(ROLES).default("reader"),
});
export type AccessBody = z.infer<typeof accessBody>;

/** Body of an update of an access. */
export const accessChangeBody = z.object({ role: z.enum(ROLES).optional() });

/** Ids in paths below a document. A malformed id returns 404. */
export const accessParams = z.object({ id, accessId: id });
export const invitationParams = z.object({ id, invitationId: id });
export const requestParams = z.object({ id, requestId: id });
