import { isReference, type Reference, type Template } from "./parse.ts";
import { HOLE, type QuotedHeredoc } from "./shell-lexer.ts";
import { TemplateError } from "./template-error.ts";

/** Replaces `length` characters at `index` with `text`. */
export interface Edit {
  readonly index: number;
  readonly length: number;
  readonly text: string;
}

/**
 * The text of a template with a HOLE for each reference, except those that `asText` replaces with text. The holes are
 * in the order of `references`. Throws TemplateError if the text itself contains a HOLE.
 */
export function withHoles(
  template: Template,
  asText: (reference: Reference) => string | undefined,
): { source: string; references: readonly Reference[] } {
  const references: Reference[] = [];
  let source = "";
  let offset = 0;
  for (const part of template.parts) {
    const text = isReference(part) ? asText(part) : part;
    if (isReference(part)) offset = part.offset;
    if (text?.includes(HOLE)) throw new TemplateError("a NUL character is not allowed here", offset);
    if (text === undefined && isReference(part)) references.push(part);
    source += text ?? HOLE;
  }
  return { source, references };
}

/** Applies edits, which must be in order and must not overlap. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  let result = "";
  let done = 0;
  for (const { index, length, text } of edits) {
    result += source.slice(done, index) + text;
    done = index + length;
  }
  return result + source.slice(done);
}

/**
 * Edits that convert a quoted here-document to an unquoted one and preserve its body: `$`, backticks and backslashes
 * are escaped, so that only the expansions inserted for its holes are active. The new delimiter needs no quotes and
 * equals no line of the body.
 */
export function unquoteHeredoc(source: string, { delimiter, body, terminator }: QuotedHeredoc): Edit[] {
  const text = source.slice(body.start, body.end);
  let name = "EOF";
  while (text.includes(name)) name += "_";
  const edits: Edit[] = [edit(delimiter.start, delimiter.end, name)];
  for (let start = body.start; start < body.end; ) {
    const hole = source.indexOf(HOLE, start);
    const end = hole === -1 || hole >= body.end ? body.end : hole;
    const escaped = source.slice(start, end).replaceAll(/[$`\\]/g, "\\$&");
    edits.push(edit(start, end, escaped));
    start = end + 1;
  }
  if (terminator !== undefined) edits.push(edit(terminator.start, terminator.end, name));
  return edits;
}

const edit = (start: number, end: number, text: string): Edit => ({
  index: start,
  length: end - start,
  text,
});
