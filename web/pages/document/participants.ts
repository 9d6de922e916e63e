import type { Awareness } from "y-protocols/awareness";

/** Somebody else who has the document open. */
export interface Participant {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

const NAME_MAX_LENGTH = 100;
const COLOR = /^#[\da-f]{6}$/i;
const DEFAULT_COLOR = "#6b7280";

/** Colors of cursors: each is readable on both themes, below white text. */
const COLORS = [
  "#b4232f",
  "#9a3412",
  "#7c5a00",
  "#3f6b12",
  "#0f6b57",
  "#0b5f8a",
  "#3a54c8",
  "#7a3fb5",
  "#a3266f",
];

/** The color of a user's cursor: always the same. */
export function colorOf(userId: string): string {
  let sum = 0;
  for (const character of userId) sum = (sum * 31 + character.charCodeAt(0)) % COLORS.length;
  return COLORS[sum] ?? DEFAULT_COLOR;
}

/** The others, in the order of their connections. What they send is checked. */
export const participantsOf = (awareness: Awareness): readonly Participant[] =>
  [...awareness.getStates()].flatMap(([id, state]) => {
    const user: unknown = state.user;
    if (id === awareness.clientID || typeof user !== "object" || user === null) return [];
    const { name, color } = user as { name?: unknown; color?: unknown };
    if (typeof name !== "string" || name === "") return [];
    return [
      {
        id,
        name: name.slice(0, NAME_MAX_LENGTH),
        color: typeof color === "string" && COLOR.test(color) ? color : DEFAULT_COLOR,
      },
    ];
  });

/** The clients whose state has changed. */
interface Changes {
  readonly added: readonly number[];
  readonly updated: readonly number[];
  readonly removed: readonly number[];
}

/** Calls the listener when others come, go or move their cursor. Returns a function that ends it. */
export function onOthers(
  awareness: Awareness,
  listener: (changes: Changes, origin: unknown) => void,
): () => void {
  const filtered = (changes: Changes, origin: unknown): void => {
    const { added, updated, removed } = changes;
    if ([...added, ...updated, ...removed].some((id) => id !== awareness.clientID)) listener(changes, origin);
  };
  awareness.on("change", filtered);
  return () => awareness.off("change", filtered);
}

/**
 * The awareness as the editor sees it, which draws the cursors of all others again after each change: without those of the
 * own cursor, which moves with each key.
 */
export function cursorsOfOthers(awareness: Awareness): Awareness {
  const ends = new Map<unknown, () => void>();
  return Object.assign(Object.create(awareness) as Awareness, {
    on: (name: string, listener: (...data: unknown[]) => void): void => {
      if (name === "change") ends.set(listener, onOthers(awareness, listener));
      else awareness.on(name, listener);
    },
    off: (name: string, listener: (...data: unknown[]) => void): void => {
      if (name !== "change") awareness.off(name, listener);
      ends.get(listener)?.();
      ends.delete(listener);
    },
  });
}
