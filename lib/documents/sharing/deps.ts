import type { Ports } from "../../platform/ports.ts";
import type { AuthorizationDeps } from "../authorization/document-access.ts";
import type { CommitDeps } from "../changes/commit.ts";

export type SharingDeps = CommitDeps & AuthorizationDeps & Pick<Ports, "ids">;

/** Compares by creation time, then id. */
export const compareByCreation = (
  one: { readonly created_at: string; readonly id: string },
  other: { readonly created_at: string; readonly id: string },
): number => (one.created_at + one.id < other.created_at + other.id ? -1 : 1);
