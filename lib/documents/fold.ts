const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}+/gu;
/** Letters that Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  ŋ: "n",
};
const LIKE_OTHERS = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

/** Normalizes text for comparing, searching and sorting: lower case without accents. Reference 1.2. */
export function fold(text: string): string {
  const small = text.toLowerCase();
  if (ASCII.test(small)) return small;
  return small
    .normalize("NFKD")
    .replace(MARKS, "")
    .replace(LIKE_OTHERS, (letter) => LETTERS[letter] ?? letter)
    .toWellFormed();
}
