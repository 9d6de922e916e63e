const EMOJI = /^(?:\p{RGI_Emoji})/v;

/** The emoji that a title begins with, and the rest of the title. */
export function splitTitle(title: string): { readonly emoji: string; readonly text: string } {
  const emoji = EMOJI.exec(title)?.[0] ?? "";
  return { emoji, text: emoji === "" ? title : title.slice(emoji.length).replace(/^ /, "") };
}

/** The title with an emoji at its beginning; an empty emoji removes it. */
export const joinTitle = (emoji: string, text: string): string =>
  emoji === "" ? text : text === "" ? emoji : `${emoji} ${text}`;
