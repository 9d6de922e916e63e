import type { DocumentSettingsRead } from "../settings/document-config.ts";
import type { AiReach } from "./access/abilities.ts";

/** How the documents are set up. */
export interface DocumentSettings extends DocumentSettingsRead {
  /** Address of the user whom the installation's own token belongs to. */
  readonly ownerEmail: string;
  readonly aiAllowReachFrom: AiReach;
  /** How long what was deleted can be brought back, days. */
  readonly trashbinCutoffDays: number;
  /** Users that a search answers at most. */
  readonly usersListLimit: number;
  /** Address of the user as whom workflows work on documents; the owner where it is empty. */
  readonly workflowsEmail: string;
  /** Whether who is not known by `sub` is looked for by address, and whether several may have the same. */
  readonly fallbackToEmail: boolean;
  readonly allowDuplicateEmails: boolean;
}

export const DAY_MS = 24 * 60 * 60 * 1000;
