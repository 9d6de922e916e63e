import * as z from "zod";
import type { StoredUser } from "../tables/users.ts";

/** Reference 1.13. */
export const userRecord = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    full_name: z.string(),
    short_name: z.string(),
    language: z.string().nullable(),
    is_first_connection: z.boolean().describe("Whether to show the introduction"),
  })
  .meta({ id: "User" });

/** A user's names without the email address. Reference 1.9. */
export const lightUserRecord = z
  .object({ full_name: z.string(), short_name: z.string() })
  .meta({ id: "LightUser" });

/** A user as returned by the API. Without a name, the first part of the email address is the name. Reference 1.13. */
export function toUser(user: StoredUser) {
  const { id, email, language, is_first_connection } = user;
  return { id, email, ...toLightUser(user), language, is_first_connection };
}

/** A user for callers who may not see email addresses. */
export function toLightUser({ full_name, short_name, email }: StoredUser) {
  const called =
    (email ?? "")
      .split("@", 1)[0]
      ?.toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-") ?? "";
  return { full_name: full_name || called, short_name: short_name || called };
}
