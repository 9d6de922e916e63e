import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import type { Awareness } from "y-protocols/awareness";
import { createRefresher } from "../../api/refresher.ts";
import { onOthers } from "./participants.ts";

/** The field of a client's awareness that changes when it has saved the title. */
const FIELD = "titleSavedAt";
/** Pause between two reads, however often others announce a title, milliseconds. */
const PAUSE_MS = 500;

/**
 * Reads the document, the lists and the tree again when somebody else who has the document open has saved its title.
 * Returns a function that announces an own one. What others announce is only the time: the title is the server's.
 */
export function useTitleAnnouncement(id: string, awareness: Awareness | undefined): () => void {
  const client = useQueryClient();
  useEffect(() => {
    if (awareness === undefined) return;
    const known = new Map<number, unknown>();
    const refresh = createRefresher(
      () =>
        Promise.all([
          client.invalidateQueries({ queryKey: ["document", id] }),
          client.invalidateQueries({ queryKey: ["documents"] }),
        ]),
      PAUSE_MS,
    );
    return onOthers(awareness, ({ added, updated, removed }) => {
      for (const other of removed) known.delete(other);
      const states = awareness.getStates();
      const announced = [...added, ...updated].filter(
        (other) => other !== awareness.clientID && states.get(other)?.[FIELD] !== known.get(other),
      );
      for (const other of announced) known.set(other, states.get(other)?.[FIELD]);
      if (announced.length > 0) refresh();
    });
  }, [awareness, client, id]);
  return useCallback(() => awareness?.setLocalStateField(FIELD, Date.now()), [awareness]);
}
