import { Parser } from "htmlparser2";
import { escapeHtml } from "../../escape-html.ts";

/** Elements that are removed with their content: nothing in a text needs them. */
const REMOVED: ReadonlySet<string> = new Set(
  "applet base embed frame frameset iframe link math meta noembed noframes noscript object plaintext script style svg template title xmp".split(
    " ",
  ),
);
const VOID: ReadonlySet<string> = new Set("area br col hr img input source track wbr".split(" "));
/** URLs that browsers execute, and the characters that they ignore in a scheme. */
const EXECUTABLE = /^(?:javascript|vbscript|data:text|data:image\/svg)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers ignore them
const IGNORED = /[\s\u0000-\u001f]/g;
const NAME = /^[a-z][a-z0-9-]*$/;
const NUMBER = "data-n";
const DEPTH_MAX = 200;

interface Element {
  readonly name: string;
  readonly attributes: string;
}

/**
 * HTML for a model: attributes are replaced by numbers, so that they neither reach the model nor come from it. Markup of
 * the answer is limited to that of the text.
 */
export class HtmlOutline {
  readonly html: string;
  readonly #names = new Set<string>();
  readonly #elements: Element[] = [];

  constructor(html: string) {
    this.html = rewrite(html, (name, attributes) => {
      this.#names.add(name);
      const kept = attributesOf(attributes);
      if (kept === "") return "";
      return ` ${NUMBER}="${this.#elements.push({ name, attributes: kept })}"`;
    });
  }

  /** The model's HTML with the attributes of the text. Other elements are replaced by their content. */
  restore(answer: string): string {
    return rewrite(answer, (name, attributes) => {
      if (!this.#names.has(name)) return undefined;
      const element = this.#elements[Number(attributes[NUMBER] ?? Number.NaN) - 1];
      return element?.name === name ? element.attributes : "";
    });
  }
}

/** Writes HTML again. `toAttributes` gives the attributes of an element, or undefined to omit its tags. */
function rewrite(
  html: string,
  toAttributes: (name: string, attributes: Readonly<Record<string, string>>) => string | undefined,
): string {
  let written = "";
  const open: { readonly isWritten: boolean; readonly isRemoved: boolean }[] = [];
  let removed = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        const isRemoved = REMOVED.has(name) || !NAME.test(name) || open.length >= DEPTH_MAX;
        if (isRemoved) removed += 1;
        const added = removed > 0 ? undefined : toAttributes(name, attributes);
        if (added !== undefined) written += `<${name}${added}>`;
        open.push({ isRemoved, isWritten: added !== undefined && !VOID.has(name) });
      },
      ontext: (text) => {
        if (removed === 0) written += escaped(text);
      },
      onclosetag: (name) => {
        const element = open.pop();
        if (element?.isRemoved === true) removed -= 1;
        if (element?.isWritten === true) written += `</${name}>`;
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return written;
}

/** The attributes of an element as they are written, without those that browsers execute. */
function attributesOf(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .filter(
      ([name, value]) =>
        NAME.test(name) &&
        !/^(?:on|srcdoc$|formaction$)/.test(name) &&
        !EXECUTABLE.test(value.replaceAll(IGNORED, "")),
    )
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join("");
}

/** As an editor writes it: attributes are in double quotes, so that apostrophes need no entity. */
const escaped = (text: string): string =>
  escapeHtml(text).replaceAll("&#39;", "'").replaceAll("\u00a0", "&nbsp;");
