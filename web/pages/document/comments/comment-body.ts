/** Values of a body that are read at most: it comes from other users. */
const VALUES_MAX = 20_000;

/** Users whom a comment mentions: their ids by the names that its text has after `@`. */
export type Mentions = ReadonlyMap<string, string>;

type Inline =
  | { readonly type: "text"; readonly text: string; readonly styles: Readonly<Record<string, boolean>> }
  | { readonly type: "mention"; readonly props: { readonly user: string; readonly name: string } };

interface BodyOptions {
  /** The text that the comment is about; empty if there is none. */
  readonly quote?: string;
  readonly mentions?: Mentions;
}

/** The body of a comment: the editor's blocks, a paragraph per line, after the text that it is about. */
export const bodyOf = (
  text: string,
  { quote = "", mentions = new Map() }: BodyOptions = {},
): readonly unknown[] => [
  ...(quote === "" ? [] : [paragraph([{ type: "text", text: `“${quote}”`, styles: { italic: true } }])]),
  ...text.split("\n").map((line) => paragraph(inlineOf(line, mentions))),
];

const paragraph = (content: readonly Inline[]) => ({ type: "paragraph", content });

/** A line in which the names of mentioned users are mentions. The longest name that fits is meant. */
function inlineOf(line: string, mentions: Mentions): readonly Inline[] {
  const names = [...mentions.keys()].toSorted((one, other) => other.length - one.length);
  const content: Inline[] = [];
  let rest = line;
  while (rest !== "") {
    const name = names.find((one) => rest.startsWith(`@${one}`));
    const next = name === undefined ? rest.indexOf("@", 1) : name.length + 1;
    const end = next < 0 ? rest.length : next;
    const last = content.at(-1);
    if (name !== undefined)
      content.push({ type: "mention", props: { user: mentions.get(name) ?? "", name } });
    else if (last?.type === "text")
      content[content.length - 1] = { ...last, text: last.text + rest.slice(0, end) };
    else content.push({ type: "text", text: rest.slice(0, end), styles: {} });
    rest = rest.slice(end);
  }
  return content;
}

/** Stands for the end of a block. */
const END = Symbol("end of a block");

interface Mention {
  readonly name: string;
  readonly user: string;
}

/** Texts, mentions and ends of blocks of a body, which is plain text, or blocks of an editor, or anything else. */
function* partsOf(body: unknown): Generator<string | Mention | typeof END> {
  const values: unknown[] = [body];
  for (let read = 0; values.length > 0 && read < VALUES_MAX; read += 1) {
    const value = values.pop();
    if (value === END || typeof value === "string") yield value;
    else if (Array.isArray(value)) values.push(...value.toReversed());
    else if (typeof value === "object" && value !== null) {
      const { type, props, text, content, children } = value as Readonly<Record<string, unknown>>;
      if (type === "mention") yield { name: textProp(props, "name"), user: textProp(props, "user") };
      else if (typeof text === "string") yield text;
      else {
        if (children !== undefined) values.push(children);
        values.push(END, content);
      }
    }
  }
}

function textProp(props: unknown, name: string): string {
  const value = typeof props === "object" && props !== null ? Reflect.get(props, name) : undefined;
  return typeof value === "string" ? value : "";
}

/** The text of a body, a line per block. */
export function textOfBody(body: unknown): string {
  const lines: string[] = [];
  let line = "";
  for (const part of partsOf(body))
    if (part === END) {
      lines.push(line);
      line = "";
    } else line += typeof part === "string" ? part : `@${part.name}`;
  return [...lines, line].join("\n").trim();
}

/** A body as its author edits it: `bodyOf` makes a body of it again. */
export function writtenOf(body: unknown): {
  readonly text: string;
  readonly quote: string;
  readonly mentions: Mentions;
} {
  const [first, ...rest] = Array.isArray(body) ? (body as readonly unknown[]) : [];
  const quoted = /^“(.*)”$/su.exec(textOfBody(first))?.[1] ?? "";
  const isQuote = quoted !== "" && JSON.stringify(first) === JSON.stringify(bodyOf("", { quote: quoted })[0]);
  const written = isQuote ? rest : body;
  const mentions = new Map<string, string>();
  for (const part of partsOf(written))
    if (typeof part === "object" && part.user !== "") mentions.set(part.name, part.user);
  return { text: textOfBody(written), quote: isQuote ? quoted : "", mentions };
}
