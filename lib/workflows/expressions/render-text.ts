import { evaluate } from "./evaluate.ts";
import { isReference, type TemplateSource, toTemplate } from "./parse.ts";
import { TemplateError } from "./template-error.ts";
import { toText, type Values } from "./values.ts";

/** Renders plain text: names, messages, request bodies. Values are not escaped. */
export function renderText(source: TemplateSource, values: Values): string {
  let text = "";
  for (const part of toTemplate(source).parts) {
    text += isReference(part) ? toText(evaluate(part.expression, values).value) : part;
  }
  return text;
}

/** A template that is a single reference returns its value unchanged; any other template returns text. */
export function renderValue(source: TemplateSource, values: Values): unknown {
  const template = toTemplate(source);
  const parts = template.parts.filter((part) => isReference(part) || part.trim() !== "");
  const [only] = parts;
  if (parts.length !== 1 || only === undefined || !isReference(only)) return renderText(template, values);
  return evaluate(only.expression, values).value;
}

/** Renders an HTTP header's value. Throws TemplateError if a value contains a line break or NUL. */
export function renderHeader(source: TemplateSource, values: Values): string {
  let text = "";
  for (const part of toTemplate(source).parts) {
    if (!isReference(part)) {
      text += part;
      continue;
    }
    const value = toText(evaluate(part.expression, values).value);
    if (/[\r\n\0]/.test(value)) {
      throw new TemplateError("a header must not contain a value with a line break or NUL", part.offset);
    }
    text += value;
  }
  return text;
}
