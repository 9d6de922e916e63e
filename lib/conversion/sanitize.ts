import createDOMPurify, { type Config, type WindowLike } from "dompurify";

/** The part of an element that the hooks use: the compiler has no DOM types. */
interface HtmlElement {
  readonly localName: string;
  setAttribute(name: string, value: string): void;
}

const words = (text: string): string[] => text.split(" ");

const CONFIG: Config = {
  ALLOWED_TAGS: words(
    "a audio b blockquote br caption code col colgroup del details div em figcaption figure h1 h2 h3 h4 h5 h6 hr i img " +
      "input ins li ol p pre s source span strong sub summary sup table tbody td tfoot th thead tr u ul video",
  ),
  ALLOWED_ATTR: words(
    "alt checked class colspan controls data-background-color data-language data-text-alignment data-text-color dir " +
      "disabled height href lang open rowspan src start style title type width",
  ),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  /** Removed with their content. Other disallowed tags are replaced by their content. */
  FORBID_CONTENTS: words(
    "applet base embed frame frameset iframe link math meta noembed noframes noscript object plaintext script style svg " +
      "template title xmp",
  ),
};

const SAFE_STYLES =
  /^(?:\s*(?:text-align|color|background-color|font-weight|width)\s*:\s*[\w#%., ()-]{1,60};?)+\s*$/;
const STYLE_CALL = /url|expression|var\s*\(/i;

/** Whether following the URL only fetches it or writes a message: the URL contains no script and no document. */
export function isSafeUrl(url: string): boolean {
  // Browsers ignore these characters when they read the scheme.
  const plain = [...url].filter((character) => character > " " && character !== "\u007f").join("");
  const scheme = /^([^/?#:]*):/.exec(plain)?.[1]?.toLowerCase();
  if (scheme === undefined || ["http", "https", "mailto", "tel"].includes(scheme)) return true;
  return /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(plain);
}

/** Returns a function that removes from HTML whatever a browser could execute or send. Uses the DOM of `window`. */
export function createSanitizer(window: unknown): (html: string) => string {
  const purify = createDOMPurify(window as WindowLike);
  purify.addHook("uponSanitizeAttribute", (_, attribute) => {
    const { attrName, attrValue } = attribute;
    if (attrName === "style")
      attribute.keepAttr &&= SAFE_STYLES.test(attrValue) && !STYLE_CALL.test(attrValue);
    if (attrName === "href" || attrName === "src") attribute.keepAttr &&= isSafeUrl(attrValue);
  });
  purify.addHook("afterSanitizeAttributes", (node) => {
    const element = node as unknown as HtmlElement;
    if (element.localName === "a") element.setAttribute("rel", "noopener noreferrer nofollow");
    if (element.localName === "input") {
      element.setAttribute("type", "checkbox");
      element.setAttribute("disabled", "");
    }
  });
  return (html) => purify.sanitize(html, CONFIG);
}
