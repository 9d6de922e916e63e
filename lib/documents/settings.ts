import type { AiReach } from "./access/abilities.ts";

/** How the documents are set up. */
export interface DocumentSettings {
  /** Address of the user whom the installation's own token belongs to. */
  readonly ownerEmail: string;
  readonly aiAllowReachFrom: AiReach;
  /** How long what was deleted can be brought back, days. */
  readonly trashbinCutoffDays: number;
  /** Different emojis that people may react to a comment with. */
  readonly reactionsMaxPerComment: number;
  /** Address of the user as whom workflows work on documents; the owner where it is empty. */
  readonly workflowsEmail: string;
}
