import {
  Composer,
  type CST,
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { Source, SourceOutcome } from "./json-source.ts";
import { DEFINITION_BYTES } from "./limits.ts";
import { formatPath, type Path, type Position, type Problem, shorten } from "./problems.ts";
import { isFreeForm, TreeGuard } from "./tree-guard.ts";
import { refuseYaml } from "./yaml-guard.ts";

const BYTE_ORDER_MARK = "\ufeff";
/** Duplicate keys are detected below, in linear time: the composer's own search is quadratic. */
const COMPOSE_OPTIONS = { uniqueKeys: false, merge: false, version: "1.2", schema: "core" } as const;

/** Reads an untrusted definition in YAML 1.2. Every problem has a line and a column. */
export function readYaml(source: string): SourceOutcome {
  const text = source.startsWith(BYTE_ORDER_MARK) ? source.slice(1) : source;
  const bytes = Buffer.byteLength(text);
  if (bytes > DEFINITION_BYTES) {
    const message = `a definition must have at most ${DEFINITION_BYTES} bytes, not ${bytes}`;
    return { ok: false, errors: [{ message, line: 1, column: 1 }] };
  }
  const positionOf = makePositions(text);
  const refusal = refuseYaml(text);
  if (refusal !== undefined) {
    return { ok: false, errors: [{ message: refusal.message, ...positionOf(refusal.offset) }] };
  }

  const tree = compose(text);
  if (tree === undefined)
    return { ok: false, errors: [{ message: "the text is empty", line: 1, column: 1 }] };
  const faults = [...tree.errors, ...tree.warnings];
  if (faults.length > 0) {
    const errors = faults.map((fault) => ({
      message: sentence(fault.message) + templateHint(text, fault.pos[0]),
      ...positionOf(fault.pos[0]),
    }));
    return { ok: false, errors };
  }

  const reader = new TreeReader(text, positionOf);
  const value = reader.read(tree.contents, [], 0);
  if (reader.errors.length > 0) return { ok: false, errors: reader.errors };
  return { ok: true, source: new YamlSource(tree, value, positionOf) };
}

function makePositions(text: string): (offset: number) => Position {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) counter.addNewLine(at + 1);
  return (offset) => {
    const { line, col } = counter.linePos(Math.min(offset, text.length));
    return { line, column: col };
  };
}

function compose(text: string): Document.Parsed | undefined {
  const composer = new Composer(COMPOSE_OPTIONS);
  for (const document of composer.compose(untilFault(new Parser().parse(text)), true, text.length))
    return document;
  return undefined;
}

/** Stops after the first error, since it causes thousands more. */
function* untilFault(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  for (const token of tokens) {
    yield token;
    if (token.type === "error") return;
  }
}

function sentence(message: string): string {
  return shorten(message.slice(0, 1).toLowerCase() + message.slice(1));
}

/** YAML reads an unquoted `{{x}}` or `[[x]]` at the start of a value as a collection, usually an invalid one. */
function templateHint(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", Math.max(0, offset - 1)) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  if (!/(?:^|[:-])\s*(?:\{\{|\[\[)/.test(line)) return "";
  return " (a value that starts with {{ or [[ must be in quotes)";
}

/** Converts nodes to plain values, and rejects YAML features that definitions do not allow. */
class TreeReader {
  readonly errors: Problem[] = [];
  readonly #guard = new TreeGuard();
  readonly #text: string;
  readonly #positionOf: (offset: number) => Position;

  constructor(text: string, positionOf: (offset: number) => Position) {
    this.#text = text;
    this.#positionOf = positionOf;
  }

  read(node: unknown, path: Path, offset: number): unknown {
    const start = offsetOf(node) ?? offset;
    if (isScalar(node)) return this.#scalar(node, path, start);
    if (isMap(node)) return this.#map(node, path, start);
    if (isSeq(node)) return this.#list(node, path, start);
    return null;
  }

  #refuse(message: string | undefined, path: Path, offset: number): boolean {
    if (message === undefined) return false;
    this.errors.push({
      message,
      ...(path.length > 0 && { path: formatPath(path) }),
      ...this.#positionOf(offset),
    });
    return true;
  }

  #scalar(node: Scalar, path: Path, start: number): unknown {
    const { value, source } = node;
    if (typeof value === "string") {
      this.#refuse(this.#guard.text(value), path, start);
      return value;
    }
    if (typeof value !== "number") return typeof value === "boolean" ? value : null;
    if (isFreeForm(path)) {
      this.#refuse(Number.isFinite(value) ? undefined : "must be a finite number", path, start);
      return value;
    }
    // 1.10, 007 and numbers beyond double precision are kept as written.
    return source === undefined || source === String(value) ? value : source;
  }

  #list(node: YAMLSeq, path: Path, start: number): unknown {
    if (this.#refuse(this.#guard.enter(path.length + 1), path, start)) return [];
    return node.items.map((item, at) => this.read(item, [...path, at], start));
  }

  #map(node: YAMLMap, path: Path, start: number): unknown {
    if (this.#refuse(this.#guard.enter(path.length + 1), path, start)) return {};
    if (this.#refuse(this.#guard.map(node.items.length), path, start)) return {};
    const map: Record<string, unknown> = {};
    const seen = new Set<string>();
    for (const pair of node.items) {
      const key = this.#key(pair, node, path, start);
      if (key === undefined) continue;
      const keyStart = offsetOf(pair.key) ?? start;
      if (seen.has(key) && this.#refuse(`the key "${shorten(key)}" is duplicated`, path, keyStart)) continue;
      seen.add(key);
      const value = this.read(pair.value, [...path, key], keyStart);
      // A key with a null value counts as missing, in YAML as in JSON.
      if (value !== null || isFreeForm(path)) map[key] = value;
    }
    return map;
  }

  #key(pair: Pair, node: YAMLMap, path: Path, start: number): string | undefined {
    if (!isScalar(pair.key)) {
      const written = this.#text.slice(start, node.range?.[1] ?? start).trim();
      const message = written.startsWith("{{")
        ? `put the template in quotes: "${shorten(written)}" (bare {{ starts a map in YAML)`
        : "a key must be a text";
      this.#refuse(message, path, start);
      return undefined;
    }
    const { value, source } = pair.key;
    const key = typeof value === "string" ? value : (source ?? String(value));
    return this.#refuse(this.#guard.key(key), path, offsetOf(pair.key) ?? start) ? undefined : key;
  }
}

class YamlSource implements Source {
  readonly value: unknown;
  readonly #tree: Document.Parsed;
  readonly #positionOf: (offset: number) => Position;

  constructor(tree: Document.Parsed, value: unknown, positionOf: (offset: number) => Position) {
    this.#tree = tree;
    this.value = value;
    this.#positionOf = positionOf;
  }

  locate(path: Path): Position {
    return this.#positionOf(this.#find(path).offset);
  }

  hint(path: Path): string | undefined {
    const { node } = this.#find(path);
    if (!isSeq(node) || node.flow !== true || node.items.length !== 1 || !isSeq(node.items[0]))
      return undefined;
    return "a value that starts with [[ must be in quotes";
  }

  #find(path: Path): { offset: number; node: unknown } {
    let node: unknown = this.#tree.contents;
    let offset = offsetOf(node) ?? 0;
    for (const part of path) {
      let next: unknown;
      if (isSeq(node) && typeof part === "number") {
        next = node.items[part];
      } else if (isMap(node)) {
        const pair = node.items.find((each) => isScalar(each.key) && keyText(each.key) === part);
        if (pair === undefined) break;
        offset = offsetOf(pair.key) ?? offset;
        next = pair.value;
      } else {
        break;
      }
      node = next;
      offset = startsOnItsOwn(next) ? (offsetOf(next) ?? offset) : offset;
    }
    return { offset, node };
  }
}

function keyText(key: Scalar): string {
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function offsetOf(node: unknown): number | undefined {
  if (isScalar(node) || isMap(node) || isSeq(node)) return node.range?.[0];
  return undefined;
}

/** A missing value has a position too, but the position of its key is more useful. */
function startsOnItsOwn(node: unknown): boolean {
  return !isScalar(node) || node.value !== null;
}
