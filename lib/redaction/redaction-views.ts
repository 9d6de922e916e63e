/**
 * A text with one kind of encoding removed, and the origin of its characters: character `i` comes from `starts[i]` up
 * to `ends[i]` of the original text.
 */
export interface View {
  readonly text: string;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** HTML names of the characters from U+00A0 on. */
const LATIN_1_NAMES =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml".split(
    " ",
  );
const ASCII_NAMES =
  '&:amp &:AMP <:lt <:LT >:gt >:GT ":quot ":QUOT \':apos !:excl #:num $:dollar %:percnt (:lpar ):rpar *:ast *:midast +:plus ,:comma .:period /:sol ::colon ;:semi =:equals ?:quest @:commat [:lsqb [:lbrack \\:bsol ]:rsqb ]:rbrack ^:Hat _:lowbar _:UnderBar `:grave `:DiacriticalGrave {:lcub {:lbrace |:verbar |:vert |:VerticalLine }:rcub }:rbrace \t:Tab \n:NewLine';
const NAMED = new Map<string, string>([
  ...ASCII_NAMES.split(" ").map((pair): [string, string] => [pair.slice(2), pair.slice(0, 1)]),
  ...LATIN_1_NAMES.map((name, at): [string, string] => [name, String.fromCharCode(0xa0 + at)]),
]);
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v" };

/**
 * Percent-encoding, HTML character references, escapes of JSON and JavaScript, and quotes of a shell: `'\''`, `'"'"'`
 * and a backslash before any punctuation.
 */
const ESCAPE =
  /(?:%[0-9A-Fa-f]{2})+|&(?:#0{0,6}\d{1,7}|#[xX]0{0,6}[0-9A-Fa-f]{1,6}|[A-Za-z]\w{1,20});|'(?:\\{1,4}'|\\{0,4}"'\\{0,4}")'|\\(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{2}|[^\w\s]|[ nrtbfv])/g;

/** Removes one level of escapes; undefined if the text has no escapes. */
export function unescapeView(view: View): View | undefined {
  const made = new ViewBuilder(view);
  let done = 0;
  for (const found of view.text.matchAll(ESCAPE)) {
    const [written] = found;
    const characters = decode(written);
    if (characters === undefined) continue;
    made.copy(done, found.index);
    let at = found.index;
    for (const { text, length } of characters) {
      made.add(text, at, at + length);
      at += length;
    }
    done = found.index + written.length;
  }
  if (done === 0) return undefined;
  made.copy(done, view.text.length);
  return made.view();
}

interface Decoded {
  readonly text: string;
  /** Length of the encoded text. */
  readonly length: number;
}

function decode(written: string): readonly Decoded[] | undefined {
  const { length } = written;
  if (written.startsWith("%")) return decodePercent(written);
  if (written.startsWith("'")) return [{ text: "'", length }];
  if (written.startsWith("&")) {
    const name = written.slice(1, -1);
    const code = /^#[xX]/.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const text = name.startsWith("#") ? codePoint(code) : NAMED.get(name);
    return text === undefined ? undefined : [{ text, length }];
  }
  const kind = written.charAt(1);
  const hex = /^\\[ux]\{?([0-9A-Fa-f]+)/.exec(written)?.[1];
  const text =
    hex !== undefined && length > 2 ? codePoint(Number.parseInt(hex, 16)) : (CONTROLS[kind] ?? kind);
  return text === undefined ? undefined : [{ text, length }];
}

const codePoint = (code: number): string | undefined =>
  code <= 0x10ffff ? String.fromCodePoint(code) : undefined;

/** Bytes of UTF-8, each as `%XX`; invalid UTF-8 is decoded as Latin-1. */
function decodePercent(escapes: string): readonly Decoded[] {
  const bytes = Buffer.from(escapes.replaceAll("%", ""), "hex");
  const decoded: Decoded[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const count = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    const text = bytes.toString("utf8", at, at + count);
    const whole = count === 1 || !text.includes("\ufffd") || text === "\ufffd";
    const used = whole ? Math.min(count, bytes.length - at) : 1;
    decoded.push({ text: used === count && whole ? text : String.fromCharCode(first), length: 3 * used });
    at += used;
  }
  return decoded;
}

/** Removes the separators between lines of base64, and converts to the alphabet of RFC 4648. */
export function base64View(view: View): View {
  return filtered(view, /[\s>]+/g, (text) => text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** Removes the separators between the bytes of a hex dump, in lower case. */
export function hexView(view: View): View {
  return filtered(view, /0[xX]|\\[xX]|[\s:,;\\%-]+/g, (text) => text.toLowerCase());
}

function filtered(view: View, dropped: RegExp, change: (text: string) => string): View {
  const made = new ViewBuilder(view);
  let done = 0;
  for (const found of view.text.matchAll(dropped)) {
    made.copy(done, found.index, change);
    done = found.index + found[0].length;
  }
  made.copy(done, view.text.length, change);
  return made.view();
}

/** A range of the text itself. */
export function plainView(text: string, start: number, end: number): View {
  const length = Math.min(end, text.length) - start;
  const starts = new Int32Array(length);
  const ends = new Int32Array(length);
  for (let at = 0; at < length; at += 1) {
    starts[at] = start + at;
    ends[at] = start + at + 1;
  }
  return { text: text.slice(start, start + length), starts, ends };
}

/** Builds a view of a view, which is never longer than its source. */
class ViewBuilder {
  readonly #from: View;
  readonly #pieces: string[] = [];
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  #length = 0;

  constructor(from: View) {
    this.#from = from;
    this.#starts = new Int32Array(from.text.length);
    this.#ends = new Int32Array(from.text.length);
  }

  copy(start: number, end: number, change: (text: string) => string = (text) => text): void {
    if (end <= start) return;
    this.#pieces.push(change(this.#from.text.slice(start, end)));
    this.#starts.set(this.#from.starts.subarray(start, end), this.#length);
    this.#ends.set(this.#from.ends.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** Adds text that comes from a range of the source. */
  add(text: string, start: number, end: number): void {
    this.#pieces.push(text);
    const from = this.#from.starts[start] ?? 0;
    const to = this.#from.ends[end - 1] ?? 0;
    this.#starts.fill(from, this.#length, this.#length + text.length);
    this.#ends.fill(to, this.#length, this.#length + text.length);
    this.#length += text.length;
  }

  view(): View {
    return {
      text: this.#pieces.join(""),
      starts: this.#starts.subarray(0, this.#length),
      ends: this.#ends.subarray(0, this.#length),
    };
  }
}
