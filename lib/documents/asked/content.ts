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
  /**
   * Adds text on a line of its own: to plain content as it is, to what editors keep as blocks, which leaves all else as
   * it was. Throws `conflict` where the content changes meanwhile or, `ifNone`, where there is any.
   */
  append(
    user: StoredUser,
    id: string,
    text: string,
    how: { readonly ifNone?: boolean; readonly cause: Cause },
  ): Promise<void>;
}
