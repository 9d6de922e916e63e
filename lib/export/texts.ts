/** Heading of the comments, by language. */
const COMMENTS: Readonly<Record<string, string>> = {
  de: "Kommentare",
  en: "Comments",
  es: "Comentarios",
  fr: "Commentaires",
  nl: "Opmerkingen",
};

/** A language tag as HTML, XML and PDF accept it; `en` if it is none. */
export const languageOf = (language: string): string =>
  /^[a-z]{2,3}(?:-[a-z]{2})?$/i.test(language)
    ? language.replace(/-(\w\w)$/, (_, region: string) => `-${region.toUpperCase()}`)
    : "en";

export const commentsTitle = (language: string): string =>
  COMMENTS[languageOf(language).slice(0, 2).toLowerCase()] ?? "Comments";

/** Colors of code and of quotes. */
export const GRAY = "#595959";
