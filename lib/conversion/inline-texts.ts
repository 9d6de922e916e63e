import { type Inline, isLink, isText, type StyledText } from "./read-blocks.ts";

/** The content with neighboring texts of the same styles as one. */
export function joinTexts(content: readonly Inline[]): Inline[] {
  const joined: Inline[] = [];
  for (const inline of content) {
    const last = joined.at(-1);
    if (isText(inline) && isText(last) && isSame(last.styles, inline.styles)) last.text += inline.text;
    else joined.push(inline);
  }
  return joined;
}

/** The content without white space around it. */
export function trimTexts(content: readonly Inline[]): Inline[] {
  const [first, last] = [content[0], content.at(-1)];
  if (isText(first)) first.text = first.text.trimStart();
  if (isText(last)) last.text = last.text.trimEnd();
  return content.filter((inline) => !isText(inline) || inline.text !== "");
}

/** The texts of the content; links without their address. */
export const textsOf = (content: readonly Inline[]): StyledText[] =>
  content.flatMap((inline) => (isText(inline) ? [inline] : isLink(inline) ? inline.content : []));

const isSame = (one: object, other: object): boolean => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name));
};
