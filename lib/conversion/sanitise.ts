/** What is used of the DOM, as jsdom has it. */
interface MarkupAttribute {
  readonly name: string;
  readonly value: string;
}
interface MarkupElement {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly attributes: Iterable<MarkupAttribute>;
  readonly childNodes: Iterable<unknown>;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  replaceWith(...nodes: unknown[]): void;
  remove(): void;
}
interface MarkupTemplate {
  innerHTML: string;
  readonly content: { querySelectorAll(selector: string): Iterable<MarkupElement> };
}
export interface MarkupDocument {
  createElement(name: "template"): MarkupTemplate;
}

const HTML = "http://www.w3.org/1999/xhtml";
const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const ELEMENTS = words(
  "a audio b blockquote br caption code col colgroup del details div em figcaption figure h1 h2 h3 h4 h5 h6 hr i img " +
    "input ins li ol p pre s source span strong sub summary sup table tbody td tfoot th thead tr u ul video",
);
/** Go with all that is in them; others that are not known leave that behind. */
const DROPPED = words(
  "applet base embed frame frameset iframe link math meta noembed noframes noscript object plaintext script style svg " +
    "template title xmp",
);
const ATTRIBUTES = words(
  "alt checked class colspan controls data-background-color data-language data-text-alignment data-text-color dir " +
    "disabled height lang open rowspan start title type width",
);
const URLS = words("href src");
const SAFE_STYLES =
  /^(?:\s*(?:text-align|color|background-color|font-weight|width)\s*:\s*[\w#%., ()-]{1,60};?)+\s*$/;
const STYLE_CALL = /url|expression|var\s*\(/i;

/** Whether following an address does nothing but fetch it, or write to somebody. */
export function isSafeUrl(url: string): boolean {
  // Browsers leave these out before they look at it.
  const plain = [...url].filter((character) => character > " " && character !== "\u007f").join("");
  const scheme = /^([^/?#:]*):/.exec(plain)?.[1]?.toLowerCase();
  if (scheme === undefined || ["http", "https", "mailto", "tel"].includes(scheme)) return true;
  return /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(plain);
}

/** HTML without anything that a browser would execute or send: what is not known to be harmless goes. */
export function sanitise(html: string, document: MarkupDocument): string {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const element of [...template.content.querySelectorAll("*")]) {
    const name = element.localName;
    if (element.namespaceURI !== HTML || DROPPED.has(name)) element.remove();
    else if (!ELEMENTS.has(name)) element.replaceWith(...element.childNodes);
    else clean(element);
  }
  return template.innerHTML;
}

function clean(element: MarkupElement): void {
  for (const { name, value } of [...element.attributes]) {
    const isKept =
      ATTRIBUTES.has(name) ||
      (URLS.has(name) && isSafeUrl(value)) ||
      (name === "style" && SAFE_STYLES.test(value) && !STYLE_CALL.test(value));
    if (!isKept) element.removeAttribute(name);
  }
  if (element.localName === "a") element.setAttribute("rel", "noopener noreferrer nofollow");
  if (element.localName === "input") {
    element.setAttribute("type", "checkbox");
    element.setAttribute("disabled", "");
  }
}
