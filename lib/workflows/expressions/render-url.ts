import { endsWith, evaluate, isRaw } from "./evaluate.ts";
import { isReference, type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import { TemplateError } from "./template-error.ts";
import { toText, type Values } from "./values.ts";

/** The part of the URL at the end of the text so far. */
type Place = "start" | "authority" | "path" | "query";

/**
 * Renders a URL. A value is one percent-encoded component, with these exceptions: a value at the start of the URL is
 * text (`{{BaseUrl}}/x`), a value after `scheme://` keeps the colon and brackets of `host:port` and `[::1]`, and `|
 * raw` or `| urlencode` insert the value unchanged. Throws TemplateError if a value would be the path segment `.` or
 * `..`, which URL parsers resolve even if encoded.
 */
export function renderUrl(source: TemplateSource, values: Values): string {
  let url = "";
  let place: Place = "start";
  let begun = false;
  for (const part of toTemplate(source).parts) {
    if (isReference(part)) {
      url += renderPart(part, begun && place === "start" ? "path" : place, values);
      begun = true;
    } else if (begun || part.trim() !== "") {
      begun = true;
      place = advance(place, part);
      url += part;
    }
  }
  return url;
}

function renderPart(part: Reference, place: Place, values: Values): string {
  const text = toText(evaluate(part.expression, values).value);
  if (place === "start" || isRaw(part.expression) || endsWith(part.expression, "urlencode")) return text;
  if (place !== "query" && /^\.{1,2}$/.test(text)) {
    throw new TemplateError(`the value "${text}" is not allowed in the path of a URL`, part.offset);
  }
  const encoded = encodeURIComponent(text.toWellFormed());
  if (place !== "authority") return encoded;
  return encoded.replaceAll("%3A", ":").replaceAll("%5B", "[").replaceAll("%5D", "]");
}

function advance(from: Place, text: string): Place {
  let place = from;
  let rest = text;
  if (place === "start") {
    const scheme = rest.indexOf("://");
    place = scheme === -1 ? "path" : "authority";
    rest = scheme === -1 ? rest : rest.slice(scheme + 3);
  }
  if (place === "authority") {
    const end = rest.search(/[/\\?#]/);
    if (end === -1) return place;
    place = "path";
    rest = rest.slice(end);
  }
  return place === "path" && /[?#]/.test(rest) ? "query" : place;
}
