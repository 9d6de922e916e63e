import { escapeHtml } from "../../escape-html.ts";
import type { Letterhead } from "../../mail/mail.ts";

/** Maximum characters of a name or title in an email, so that it cannot contain a message of its own. */
const SHOWN_MAX = 120;

interface Link {
  readonly text: string;
  readonly url: string;
}

/** The parts of an email, as text. */
export interface EmailContent {
  readonly language: string;
  readonly subject: string;
  readonly heading: string;
  readonly sections: readonly { readonly text: string; readonly quote?: string }[];
  readonly link?: Link;
  readonly foot: string;
  readonly unsubscribe?: Link;
}

export interface RenderedEmail {
  readonly language: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Lays an email out as text and as HTML, in which everything is escaped. */
export function layOutEmail(
  { language, subject, heading, sections, link, foot, unsubscribe }: EmailContent,
  { logoUrl, brandName }: Letterhead,
): RenderedEmail {
  const plain = [
    heading,
    ...sections.map(({ text, quote }) => (quote === undefined ? text : `${text}\n${quoted(quote)}`)),
    ...(link === undefined ? [] : [`${link.text}: ${link.url}`]),
    unsubscribe === undefined ? foot : `${foot}\n${unsubscribe.text}: ${unsubscribe.url}`,
  ];
  const title = escapeHtml(heading);
  const anchor = ({ text, url }: Link): string => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;
  return {
    language,
    subject,
    text: `${plain.join("\n\n")}\n`,
    html: [
      `<!DOCTYPE html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title></head>`,
      '<body style="font-family:sans-serif;max-width:36em;margin:2em auto;padding:0 1em">',
      ...(logoUrl === undefined
        ? []
        : [`<p><img src="${escapeHtml(logoUrl)}" alt="${escapeHtml(oneLine(brandName))}" height="48"></p>`]),
      `<h1 style="font-size:1.3em">${title}</h1>`,
      ...sections.map(
        ({ text, quote }) =>
          `<p>${inHtml(text)}</p>${quote === undefined ? "" : `<blockquote>${inHtml(quote)}</blockquote>`}`,
      ),
      ...(link === undefined ? [] : [`<p>${anchor(link)}</p>`]),
      `<p>${escapeHtml(foot)}${unsubscribe === undefined ? "" : `<br>${anchor(unsubscribe)}`}</p></body></html>`,
    ].join("\n"),
  };
}

const inHtml = (text: string): string => escapeHtml(text).replaceAll("\n", "<br>");

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

/** Replaces `{name}` by the value of that name. */
export const fillIn = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

/** Removes line breaks and invisible characters. */
const visible = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    // Direction marks can disguise text.
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();

/** One line, shortened to `most` characters. */
export function oneLine(text: string, most = SHOWN_MAX): string {
  const line = visible(text);
  const letters = [...line];
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : line;
}

/** Cleans each line of a message. Its length was validated. */
export const lines = (text: string): string =>
  text
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map(visible)
    .join("\n")
    .trim();
