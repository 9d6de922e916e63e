import type { StoredUser } from "../users/table.ts";

/** The text of documents, for those who do not edit it as a client does. Whoever calls has made sure of the rights. */
export interface ContentAccess {
  /** Undefined of a document whose content was never saved. */
  read(id: string): Promise<string | undefined>;
  /** In place of all that there is. Throws `conflict` where it is another by now than `was`, which was read. */
  write(user: StoredUser, id: string, text: string, was: string | undefined): Promise<void>;
}
