import * as z from "zod";
import { ROLES } from "../access/roles.ts";
import { isExpired, type StoredInvitation } from "../tables/invitations.ts";
import { normalizeEmail } from "../tables/users.ts";

const EMAIL_MAX_LENGTH = 254;

const email = z.email().max(EMAIL_MAX_LENGTH).transform(normalizeEmail);

/** Body of an invitation. Reference 1.10. */
export const invitationBody = z.object({ email, role: z.enum(ROLES).default("reader") });
export type InvitationBody = z.infer<typeof invitationBody>;

/** Body of an update. */
export const invitationChangeBody = z.object({ email: email.optional(), role: z.enum(ROLES).optional() });
export type InvitationChange = z.infer<typeof invitationChangeBody>;

/** An invitation as returned by the API. Reference 1.10. */
export const invitationRecord = z
  .object({
    id: z.string(),
    abilities: z.object({
      destroy: z.boolean(),
      update: z.boolean(),
      partial_update: z.boolean(),
      retrieve: z.boolean(),
    }),
    created_at: z.string(),
    email: z.string(),
    document: z.string(),
    role: z.enum(ROLES),
    issuer: z.string().nullable().describe("Id of the inviting user"),
    is_expired: z.boolean(),
  })
  .meta({ id: "Invitation" });
export type InvitationRecord = z.infer<typeof invitationRecord>;

/** Converts an invitation. Only managers of the document see invitations, so all abilities are true. */
export function toInvitation(invitation: StoredInvitation, now: number): InvitationRecord {
  const { id, created_at, email: address, document, role, issuer } = invitation;
  return {
    id,
    abilities: { destroy: true, update: true, partial_update: true, retrieve: true },
    created_at,
    email: address,
    document,
    role,
    issuer,
    is_expired: isExpired(invitation, now),
  };
}
