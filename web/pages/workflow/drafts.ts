import { useEffect, useRef } from "react";
import { draftKey } from "../../api/local-data.ts";

/** A text of a workflow that is not saved. */
export interface Draft {
  readonly text: string;
  /** The revision that it was made from; 0 for a new workflow. */
  readonly revision: number;
  /** When it was last changed. */
  readonly changed_at: string;
}

/** What the device has no room for: a visit of another page, at least, does not lose it. */
const unstored = new Map<string, Draft>();

/** The draft of a workflow on this device. The name of a new one is empty. */
export function readDraft(user: string, name: string): Draft | undefined {
  const key = draftKey(user, name);
  const stored = unstored.get(key) ?? JSON.parse(localStorage.getItem(key) ?? "null");
  return (stored as Draft | null) ?? undefined;
}

function keepDraft(user: string, name: string, draft: Draft): void {
  const key = draftKey(user, name);
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    unstored.delete(key);
  } catch {
    unstored.set(key, draft);
  }
}

export function deleteDraft(user: string, name: string): void {
  const key = draftKey(user, name);
  localStorage.removeItem(key);
  unstored.delete(key);
}

/** Keeps the text on this device as long as it is neither saved nor the one that the editor began with. */
export function useKeptDraft(
  user: string,
  name: string,
  {
    text,
    revision,
    isUnsaved,
    isChanged,
  }: Omit<Draft, "changed_at"> & {
    readonly isUnsaved: boolean;
    readonly isChanged: boolean;
  },
): void {
  const kept = useRef<Omit<Draft, "changed_at">>(readDraft(user, name));
  useEffect(() => {
    if (!isChanged) deleteDraft(user, name);
    const isKept = kept.current?.text === text && kept.current.revision === revision;
    if (!isUnsaved || isKept) return;
    kept.current = { text, revision };
    keepDraft(user, name, { text, revision, changed_at: new Date().toISOString() });
  }, [user, name, text, revision, isUnsaved, isChanged]);
}
