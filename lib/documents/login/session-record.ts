import * as z from "zod";
import type { Credential } from "../../http/route.ts";
import type { StoredSession } from "../tables/sessions.ts";
import { sessionOfCredential } from "./session-authenticator.ts";

const dateTime = () => z.string().meta({ format: "date-time" });

/** A browser session as listed. Its id is not the secret in the cookie. */
export const sessionRecord = z
  .object({
    id: z.string(),
    created_at: dateTime(),
    last_used_at: dateTime().describe("Recorded at most once a minute"),
    expires_at: dateTime().describe("When it ends unless it is used again"),
    user_agent: z.string(),
    is_current: z.boolean().describe("Whether it authenticated this request"),
  })
  .meta({ id: "Session" });

export const toSessionRecord = (
  { id, created_at, last_used_at, expires_at, user_agent }: StoredSession,
  credential: Credential | undefined,
): z.infer<typeof sessionRecord> => ({
  id,
  created_at,
  last_used_at,
  expires_at,
  user_agent,
  is_current: sessionOfCredential(credential?.id)?.id === id,
});
