/** How a part of a line looks; names are those of the tokens in `text.module.css`. */
export interface TextStyle {
  readonly color?: AnsiColor;
  readonly background?: AnsiColor;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
}

export interface Span {
  readonly text: string;
  readonly style: TextStyle;
}

const COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
export type AnsiColor = (typeof COLORS)[number];

const ESCAPE = String.fromCharCode(27);
/** Sequences of terminals: colors and other controls, titles of windows and links, and single controls. */
const SEQUENCE = new RegExp(
  `${ESCAPE}(?:\\[([0-9;:?]*)[ -/]*([@-~])|\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?|[@-Z\\\\^_])`,
  "g",
);
/** Tab is the only control character that is shown. */
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const PLAIN: TextStyle = {};

/** The text that a terminal shows at the end of a line that was overwritten from its beginning. */
function lastWritten(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf("\r") + 1);
}

const withoutControls = (text: string): string =>
  text.replace(CONTROL, (char) => (char === "\t" ? char : ""));

export interface ParsedLine {
  readonly text: string;
  /** Undefined if the whole line looks as usual. */
  readonly spans: readonly Span[] | undefined;
  /** What the next line begins with. */
  readonly style: TextStyle;
}

/** Reads the colors and styles of a line, and removes everything else that only terminals understand. */
export function parseLine(line: string, style: TextStyle = PLAIN): ParsedLine {
  const shown = lastWritten(line);
  if (!shown.includes(ESCAPE)) {
    const text = withoutControls(shown);
    return { text, spans: style === PLAIN || text === "" ? undefined : [{ text, style }], style };
  }
  const spans: Span[] = [];
  let current = style;
  let from = 0;
  let text = "";
  const add = (): void => {
    const clean = withoutControls(text);
    if (clean !== "") spans.push({ text: clean, style: current });
    text = "";
  };
  for (const match of shown.matchAll(SEQUENCE)) {
    text += shown.slice(from, match.index);
    from = match.index + match[0].length;
    const next = match[2] === "m" ? nextStyle(current, match[1] ?? "") : current;
    if (next === current) continue;
    add();
    current = next;
  }
  text += shown.slice(from);
  add();
  const isPlain = spans.every((span) => span.style === PLAIN);
  return {
    text: spans.map((span) => span.text).join(""),
    spans: isPlain ? undefined : spans,
    style: current,
  };
}

/** What follows each style after each sequence: equal styles are one object. */
const transitions = new WeakMap<TextStyle, Map<string, TextStyle>>();
const styles = new Map<string, TextStyle>([["[]", PLAIN]]);
/** The number of sequences is not limited by the terminal. */
const TRANSITIONS_MAX = 1_000;

function nextStyle(before: TextStyle, parameters: string): TextStyle {
  const known = transitions.get(before) ?? new Map<string, TextStyle>();
  transitions.set(before, known);
  const found = known.get(parameters);
  if (found !== undefined) return found;
  const made = styleAfter(before, parameters);
  const name = JSON.stringify(Object.entries(made).toSorted());
  const style = styles.get(name) ?? made;
  styles.set(name, style);
  if (known.size < TRANSITIONS_MAX) known.set(parameters, style);
  return style;
}

/** Applies the numbers of a sequence such as `1;31`. */
function styleAfter(before: TextStyle, parameters: string): TextStyle {
  let style = before;
  const codes = parameters.split(/[;:]/).map(Number);
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      // 256 colors and 24 bits: the tokens have eight.
      const isIndexed = codes[index + 1] === 5;
      const color = isIndexed
        ? colorOf((codes[index + 2] ?? 0) % 8)
        : nearestColor(codes.slice(index + 2, index + 5));
      style = { ...style, [code === 38 ? "color" : "background"]: color };
      index += isIndexed ? 2 : 4;
    } else style = withCode(style, code);
  }
  return style;
}

function withCode(style: TextStyle, code: number): TextStyle {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, isBold: true };
  if (code === 2) return { ...style, isDim: true };
  if (code === 3) return { ...style, isItalic: true };
  if (code === 4) return { ...style, isUnderlined: true };
  if (code === 7) return { ...style, isInverse: true };
  if (code === 22) return without(style, "isBold", "isDim");
  if (code === 23) return without(style, "isItalic");
  if (code === 24) return without(style, "isUnderlined");
  if (code === 27) return without(style, "isInverse");
  if (code === 39) return without(style, "color");
  if (code === 49) return without(style, "background");
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
    return { ...style, color: colorOf(code % 10) };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107))
    return { ...style, background: colorOf(code % 10) };
  return style;
}

function without(style: TextStyle, ...names: readonly (keyof TextStyle)[]): TextStyle {
  const rest = { ...style };
  for (const name of names) delete rest[name];
  return Object.keys(rest).length === 0 ? PLAIN : rest;
}

const colorOf = (number: number): AnsiColor => COLORS[number] ?? "white";

/** Which of red, green and blue are strong, as the eight colors are numbered. */
function nearestColor([red = 0, green = 0, blue = 0]: readonly number[]): AnsiColor {
  const half = Math.max(red, green, blue, 96) / 2;
  return colorOf((red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0));
}
