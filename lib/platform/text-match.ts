import type { TextPlace, TextTerm, TextWords } from "./full-text.ts";

/** Whether a part has the words of a term next to each other. */
function hasTerm(part: string, { words, isPrefix }: TextTerm): boolean {
  return ` ${part} `.includes(` ${words.join(" ")}${isPrefix ? "" : " "}`);
}

/** Where a text matches all terms, as the full-text port defines it; undefined if it does not. */
export function findPlace(words: TextWords, terms: readonly TextTerm[]): TextPlace | undefined {
  const { title, headings, body, comments } = words;
  const isIn = (parts: readonly string[]): ((term: TextTerm) => boolean) => {
    return (term) => parts.some((part) => hasTerm(part, term));
  };
  if (terms.every(isIn(title))) return "title";
  if (terms.every(isIn([...title, ...headings]))) return "heading";
  if (terms.every(isIn([...title, ...headings, ...body]))) return "body";
  return terms.every(isIn(comments)) ? "comment" : undefined;
}
