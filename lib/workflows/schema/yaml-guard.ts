import { CST, Lexer } from "yaml";
import { DEFINITION_DEPTH, DEFINITION_KEYS, YAML_TOKENS } from "./limits.ts";
import { shorten } from "./problems.ts";

/** Why a text is rejected before parsing, and the offset. */
export interface Refusal {
  readonly message: string;
  readonly offset: number;
}

const PLAIN_TAGS = new Set(["!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq"]);
const INDICATORS = new Set(["seq-item-ind", "explicit-key-ind", "map-value-ind"]);
const BLANK = new Set(["space", "newline", "comment", "doc-mode", "scalar", "flow-error-end"]);
const FIRST_PRINTABLE = 0x20;
const DELETE = 0x7f;

/**
 * Reads a YAML text token by token, in linear time, and rejects text that is costly or dangerous to parse: the parser
 * recurses with depth and processes every key. An accepted text may still be invalid.
 */
export function refuseYaml(text: string): Refusal | undefined {
  return refuseCharacters(text) ?? refuseTokens(text);
}

function refuseCharacters(text: string): Refusal | undefined {
  if (text.startsWith("\ufffd")) return { message: "the text is not UTF-8", offset: 0 };
  for (let offset = 0; offset < text.length; offset += 1) {
    const code = text.charCodeAt(offset);
    if (code >= FIRST_PRINTABLE && code !== DELETE) continue;
    if (code === 0)
      return { message: "NUL characters are not allowed (is the text UTF-16? save it as UTF-8)", offset };
    if (code === 0x09 || code === 0x0a || code === 0x0d) continue;
    return {
      message: `the control character 0x${code.toString(16).padStart(2, "0")} is not allowed`,
      offset,
    };
  }
  return undefined;
}

function refuseTokens(text: string): Refusal | undefined {
  const depth = new DepthMeter();
  let offset = 0;
  let tokens = 0;
  let keys = 0;
  let isScalar = false;
  let document: "before" | "started" | "inside" | "ended" = "before";
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > YAML_TOKENS) return { message: `more than ${YAML_TOKENS} YAML tokens`, offset };
    const type: string = isScalar ? "content" : (CST.tokenType(token) ?? "content");
    isScalar = type === "scalar";
    if (type === "doc-mode" || type === "flow-error-end" || isScalar) continue;

    if (type === "doc-start") {
      if (document !== "before") return { message: "only one YAML document is allowed", offset };
      document = "started";
    } else if (type === "doc-end") {
      document = "ended";
    } else if (!BLANK.has(type)) {
      if (document === "ended") return { message: "only one YAML document is allowed", offset };
      document = "inside";
    }
    if (type === "map-value-ind" || type === "explicit-key-ind") keys += 1;
    if (keys > DEFINITION_KEYS) return { message: `more than ${DEFINITION_KEYS} keys`, offset };
    const refused = refuseToken(type, token);
    if (refused !== undefined) return { message: refused, offset };
    if (depth.take(type, token, offset) > DEFINITION_DEPTH) {
      return { message: `nested deeper than ${DEFINITION_DEPTH} levels`, offset };
    }
    offset += token.length;
  }
  return undefined;
}

function refuseToken(type: string, token: string): string | undefined {
  if (type === "anchor") return `anchors are not allowed: ${shorten(token)}`;
  if (type === "alias")
    return `aliases are not allowed: ${shorten(token)} (a text that starts with * needs quotes)`;
  if (type === "tag" && !PLAIN_TAGS.has(token)) return `the tag ${shorten(token)} is not allowed`;
  if (type === "directive-line") return "YAML directives are not allowed";
  return undefined;
}

/**
 * Measures depth by brackets and by columns: a block collection starts at the first content of a line or directly
 * after an indicator, further right than the enclosing collection (a list may start at its key's column, so the true
 * depth is at most twice the measured one).
 */
class DepthMeter {
  #columns: number[] = [];
  #brackets = 0;
  #lineStart = 0;
  #startsNode = true;

  take(type: string, token: string, offset: number): number {
    const isBlank = BLANK.has(type);
    if (type === "flow-map-start" || type === "flow-seq-start") this.#brackets += 1;
    else if (type === "flow-map-end" || type === "flow-seq-end")
      this.#brackets = Math.max(0, this.#brackets - 1);
    else if (!isBlank && this.#brackets === 0 && this.#startsNode) this.#enter(offset - this.#lineStart);

    const lineBreak = token.lastIndexOf("\n");
    if (lineBreak >= 0) this.#lineStart = offset + lineBreak + 1;
    if (lineBreak >= 0 || INDICATORS.has(type)) this.#startsNode = true;
    else if (!isBlank) this.#startsNode = false;
    return this.#columns.length + this.#brackets;
  }

  #enter(column: number): void {
    while ((this.#columns.at(-1) ?? -1) >= column) this.#columns.pop();
    this.#columns.push(column);
  }
}
