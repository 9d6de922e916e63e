import { hash } from "node:crypto";
import type { RoomUser } from "./backend.ts";

/** Colors of cursors, readable on white and on black. */
const COLORS = [
  "#c2410c",
  "#a16207",
  "#4d7c0f",
  "#15803d",
  "#0f766e",
  "#0369a1",
  "#1d4ed8",
  "#6d28d9",
  "#a21caf",
  "#be123c",
];

const ANONYMOUS = "Anonymous";

/** Name and color that others see. The same user has the same color everywhere. */
export function shownUser(user: RoomUser | undefined, socketId: string): { name: string; color: string } {
  const digest = hash("sha256", user?.id ?? socketId, "buffer");
  return { name: user?.name || ANONYMOUS, color: COLORS[digest.readUInt16BE(0) % COLORS.length] ?? "" };
}

type States = Map<number, Record<string, unknown>>;

/**
 * Corrects the awareness states that a connection sends: it may only set its own, at most `max` of them, and cannot
 * choose its name and color.
 */
export function stampStates(
  states: States,
  owner: { readonly user: { name: string; color: string }; isForeign(client: number): boolean },
  max: number,
): void {
  removeScratchState(states);
  let kept = 0;
  for (const [client, state] of states) {
    if (owner.isForeign(client) || typeof state !== "object" || Array.isArray(state) || kept >= max) {
      states.delete(client);
      continue;
    }
    kept += 1;
    if (state.user !== undefined) state.user = owner.user;
  }
}

/**
 * Hocuspocus 4.7 decodes a message into an `Awareness` of its own, whose local state, empty and first in the map, it
 * would add to the room as that of one more client with each message.
 */
function removeScratchState(states: States): void {
  const [first] = states;
  if (first !== undefined && Object.keys(first[1]).length === 0) states.delete(first[0]);
}
