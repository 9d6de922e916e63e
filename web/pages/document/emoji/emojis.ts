import type { EmojiMartData } from "@emoji-mart/data";
import { folded } from "../menus/filter.ts";

export interface Emoji {
  readonly character: string;
  readonly name: string;
  /** Words by which it is found. */
  readonly keywords: string;
}

let loaded: Promise<readonly Emoji[]> | undefined;

/** All emojis in the order of keyboards. They are loaded once; none if that fails, and the next call tries again. */
export async function loadEmojis(): Promise<readonly Emoji[]> {
  loaded ??= readEmojis();
  try {
    return await loaded;
  } catch {
    loaded = undefined;
    return [];
  }
}

async function readEmojis(): Promise<readonly Emoji[]> {
  const { categories, emojis } = (await import("@emoji-mart/data")).default as EmojiMartData;
  return categories.flatMap((category) =>
    category.emojis.flatMap((id) => {
      const emoji = emojis[id];
      const character = emoji?.skins[0]?.native;
      if (emoji === undefined || character === undefined) return [];
      const { name, keywords } = emoji;
      return [{ character, name, keywords: folded([id, name, ...keywords].join(" ")) }];
    }),
  );
}

/** The emojis that have a word which begins with the text: first those whose name begins with it. */
export function findEmojis(emojis: readonly Emoji[], query: string, limit: number): readonly Emoji[] {
  const typed = folded(query).trim();
  if (typed === "") return emojis.slice(0, limit);
  const named = emojis.filter(({ keywords }) => keywords.startsWith(typed));
  const others = emojis.filter(
    ({ keywords }) => !keywords.startsWith(typed) && keywords.includes(` ${typed}`),
  );
  return [...named, ...others].slice(0, limit);
}
