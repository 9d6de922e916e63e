import type { AiReach } from "./access/abilities.ts";

/** How the documents are set up. */
export interface DocumentSettings {
  /** Address of the user whom the installation's own token belongs to. */
  readonly ownerEmail: string;
  readonly aiAllowReachFrom: AiReach;
  /** How long what was deleted can be brought back, days. */
  readonly trashbinCutoffDays: number;
  /** Users that a search answers at most, and characters that it takes at least. */
  readonly usersListLimit: number;
  readonly usersSearchMinLength: number;
  /** Languages of the interface by their codes, with their names. */
  readonly languages: readonly (readonly [code: string, name: string])[];
}
