import type { StoredUser } from "../users/table.ts";

/** What led to a change, for the events that tell of it. */
export interface Cause {
  readonly run_id: string;
  readonly workflow_name: string;
  /** Also of what is told later: a workflow that sets itself off would not come to an end. */
  readonly hop: number;
}

/** The text of documents, for those who do not edit it as a client does. Whoever calls has made sure of the rights. */
export interface ContentAccess {
  /** Undefined of a document whose content was never saved. */
  read(id: string): Promise<string | undefined>;
  /** In place of all that there is. Throws `conflict` where it is another by now than `was`, which was read. */
  write(
    user: StoredUser,
    id: string,
    text: string,
    how: { readonly was: string | undefined; readonly cause: Cause },
  ): Promise<void>;
}
