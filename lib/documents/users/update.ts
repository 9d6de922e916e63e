import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Change } from "../../platform/tables.ts";
import type { DocumentSettings } from "../../settings/document-config.ts";
import { permissionDenied } from "../access/errors.ts";
import { type StoredUser, userKey, usersTable } from "../tables/users.ts";
import type { UserDeps } from "./users.ts";

type UpdateDeps = Pick<UserDeps, "tables"> & { readonly documents: DocumentSettings };

/** Body of an update. Other fields are read-only. Reference 1.13. */
export const userBody = z.object({
  language: z.string().nullish().describe("One of the codes in LANGUAGES"),
});
export type UserBody = z.infer<typeof userBody>;

const SHOWN_MAX = 100;

/** Throws `forbidden` unless the viewer is this user. */
export function requireSelf(viewer: StoredUser, id: string): void {
  if (viewer.id !== id) throw permissionDenied();
}

/** Updates the viewer's own user. Throws `forbidden` for other users, `bad_request` for an unknown language. */
export async function updateUser(
  deps: UpdateDeps,
  viewer: StoredUser,
  id: string,
  { language }: UserBody,
): Promise<StoredUser> {
  requireSelf(viewer, id);
  if (language === undefined) return viewer;
  if (language !== null && !deps.documents.clientSettings.LANGUAGES.some(([code]) => code === language)) {
    const message = `"${language.slice(0, SHOWN_MAX)}" is not a valid choice.`;
    throw new ApiError("bad_request", message, { body: { language: [message] } });
  }
  return change(deps, viewer, { language });
}

/** Marks the introduction as completed. */
export async function completeOnboarding(deps: UpdateDeps, viewer: StoredUser): Promise<void> {
  if (viewer.is_first_connection) await change(deps, viewer, { is_first_connection: false });
}

async function change(
  { tables }: UpdateDeps,
  { id }: StoredUser,
  set: NonNullable<Change["set"]>,
): Promise<StoredUser> {
  const changed = await tables.update(usersTable, userKey(id), { set, add: { revision: 1 } }, [
    ["pk", "exists"],
  ]);
  if (changed === undefined) throw new ApiError("unauthorized", "User not found or not active.");
  return changed;
}
