import type { ReactNode } from "react";
import type { Span, TextStyle } from "./ansi.ts";
import type { TextRow } from "./text-rows.ts";

interface Props {
  readonly row: TextRow;
  /** What is marked; empty for nothing. */
  readonly search: string;
}

/** One row of a text, with its colors. What is searched for is marked. */
export function TextLine({ row: { text, spans }, search }: Props): ReactNode {
  if (search !== "" && text.toLowerCase().includes(search.toLowerCase()))
    return <Marked text={text} search={search} />;
  if (spans === undefined) return text;
  return spans.map((span, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: spans of a row never change
    <StyledSpan key={index} span={span} />
  ));
}

function StyledSpan({ span: { text, style } }: { readonly span: Span }): ReactNode {
  return <span {...attributesOf(style)}>{text}</span>;
}

const attributesOf = (style: TextStyle): Record<string, string | undefined> => ({
  "data-color": style.color,
  "data-background": style.background,
  "data-bold": style.isBold === true ? "" : undefined,
  "data-dim": style.isDim === true ? "" : undefined,
  "data-italic": style.isItalic === true ? "" : undefined,
  "data-underlined": style.isUnderlined === true ? "" : undefined,
  "data-inverse": style.isInverse === true ? "" : undefined,
});

function Marked({ text, search }: { readonly text: string; readonly search: string }): ReactNode {
  const parts: ReactNode[] = [];
  const lower = text.toLowerCase();
  const wanted = search.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + search.length)}</mark>);
    from = at + search.length;
  }
  return [...parts, text.slice(from)];
}
