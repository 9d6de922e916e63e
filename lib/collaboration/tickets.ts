import { hash, randomBytes } from "node:crypto";
import * as z from "zod";
import { type AuthorizationDeps, findDocument } from "../documents/authorization/document-access.ts";
import { authorizeLive } from "../documents/live-requests/document-access.ts";
import { type StoredTicket, ticketKey, ticketsTable } from "../documents/tables/collaboration-tickets.ts";
import type { StoredUser } from "../documents/tables/users.ts";
import { toLightUser } from "../documents/users/record.ts";
import { findUser, type UserDeps } from "../documents/users/users.ts";
import { ApiError } from "../errors.ts";
import type { Principal } from "../http/route.ts";
import type { Ports } from "../platform/ports.ts";
import { TICKET_PREFIX } from "./token.ts";

const VALID_MS = 60_000;
const TICKET_BYTES = 32;
/** Expired tickets that are deleted with each new one. */
const CLEARED_MAX = 5;

export type TicketDeps = AuthorizationDeps &
  UserDeps &
  Pick<Ports, "tables" | "clock"> & {
    readonly auth: { isValid(credentialId: string): Promise<boolean> };
  };

/** A new ticket. Clients send `{generation}:{ticket}` as the token of the Hocuspocus provider. */
export const ticketRecord = z
  .object({
    ticket: z.string(),
    generation: z
      .int()
      .describe("Generation of the content; another one means that the content was replaced"),
    expires_at: z.string(),
  })
  .meta({ id: "CollaborationTicket" });

const hashOf = (ticket: string): string => hash("sha256", ticket, "hex");

/**
 * Issues a ticket that is valid for a minute and for one connection to a document. Throws `not_found`, `unauthorized`,
 * `forbidden`.
 */
export async function issueTicket(
  deps: TicketDeps & {
    readonly updateLogs: {
      use<Result>(
        document: string,
        use: (log: { readonly generation: number }) => Promise<Result>,
      ): Promise<Result>;
    };
  },
  viewer: StoredUser | undefined,
  principal: Principal | undefined,
  document: string,
): Promise<z.infer<typeof ticketRecord>> {
  await authorizeLive(deps, viewer, document, "retrieve");
  const generation = await deps.updateLogs.use(document, async (log) => log.generation);
  const ticket = `${TICKET_PREFIX}${randomBytes(TICKET_BYTES).toString("base64url")}`;
  const key = ticketKey(hashOf(ticket));
  const expires_at = new Date(deps.clock.now() + VALID_MS).toISOString();
  const item: StoredTicket = {
    ...key,
    document,
    user: viewer?.id ?? null,
    credential: principal?.credential?.id ?? null,
    expires_at,
    shard: key.pk.slice(0, 1),
  };
  await deps.tables.write([{ op: "put", table: ticketsTable, item }]);
  await clearExpired(deps, item.shard);
  return { ticket, generation, expires_at };
}

async function clearExpired(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  shard: string,
): Promise<void> {
  const before = new Date(clock.now()).toISOString();
  const { items } = await tables.query(ticketsTable, {
    index: "expires",
    pk: shard,
    sk: { before },
    limit: CLEARED_MAX,
  });
  if (items.length > 0)
    await tables.write(items.map(({ pk, sk }) => ({ op: "delete", table: ticketsTable, key: { pk, sk } })));
}

const ID_MAX = 200;
const TICKET_MAX = 200;

export const redeemBody = z.object({
  document: z.string().max(ID_MAX),
  ticket: z.string().max(TICKET_MAX),
});

export const accessBody = z.object({
  document: z.string().max(ID_MAX),
  user: z.string().max(ID_MAX).nullable().describe("Id of the user; null if anonymous"),
  credential: z.string().max(ID_MAX).nullable().describe("As in the response to the ticket's redemption"),
});

const abilities = z.object({ retrieve: z.boolean(), update: z.boolean() });

/** What a client may do in a document. */
export const accessRecord = z.object({ abilities }).meta({ id: "CollaborationAccess" });

/** Who has opened a connection with a ticket. */
export const redemptionRecord = z
  .object({
    abilities,
    user: z.object({ id: z.string(), full_name: z.string() }).nullable(),
    credential: z.string().nullable().describe("For later checks of the access"),
  })
  .meta({ id: "RedeemedTicket" });

/**
 * Redeems a ticket, which is then used up. Throws `not_found` for a ticket that does not exist, has expired, was used, or
 * is for another document.
 */
export async function redeemTicket(
  deps: TicketDeps,
  { document, ticket }: z.infer<typeof redeemBody>,
): Promise<z.infer<typeof redemptionRecord>> {
  const key = ticketKey(hashOf(ticket));
  const found = await deps.tables.get(ticketsTable, key);
  const isValid = found?.document === document && Date.parse(found.expires_at) > deps.clock.now();
  if (found === undefined || !isValid) throw unknownTicket();
  const when = [["pk", "exists"]] as const;
  // Of two redemptions at the same time, one deletes the item.
  const outcome = await deps.tables.write([{ op: "delete", table: ticketsTable, key, when }]);
  if (!outcome.ok) throw unknownTicket();
  const { user, credential } = found;
  const stored = user === null ? undefined : await findUser(deps, user);
  return {
    abilities: await readAbilities(deps, { document, user, credential }),
    user: stored === undefined ? null : { id: stored.id, full_name: toLightUser(stored).full_name },
    credential,
  };
}

const unknownTicket = (): ApiError =>
  new ApiError("not_found", "The ticket does not exist, has expired or was used.");

/**
 * What a user may do in a document now: nothing if the document does not exist, the user is inactive, or the credential
 * was revoked.
 */
export async function readAbilities(
  deps: TicketDeps,
  { document, user, credential }: z.infer<typeof accessBody>,
): Promise<z.infer<typeof abilities>> {
  const nothing = { retrieve: false, update: false };
  if (credential !== null && !(await deps.auth.isValid(credential))) return nothing;
  const viewer = user === null ? undefined : await findUser(deps, user);
  if (user !== null && viewer?.is_active !== true) return nothing;
  try {
    const access = await findDocument(deps, viewer, document);
    return { retrieve: access.abilities.retrieve, update: access.abilities.update };
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return nothing;
    throw error;
  }
}
