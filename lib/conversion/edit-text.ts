import type * as Y from "yjs";
import { alignSequences, partsBetween } from "./align-sequences.ts";
import { type Attributes, canonical, isComment, type TextRun } from "./document-tree.ts";

/** Words, spaces, and single characters. */
const TOKEN = /[\p{L}\p{M}\p{N}_]+|\s+|./gsu;
/** Stands for an embedded value, which counts as one character. */
const EMBEDDED = "\uFFFC";

/**
 * Changes a text into the wanted runs. Only the words that differ are deleted and inserted, so that concurrent edits of
 * the other words merge. Comments stay on the text that stays, and so do marks for which `keepsMark` returns true.
 */
export function editText(
  type: Y.XmlText,
  current: readonly TextRun[],
  wanted: readonly TextRun[],
  keepsMark: (name: string) => boolean,
): void {
  const delta: object[] = [];
  let isChanged = false;
  const [from, to] = [new RunReader(current), new RunReader(wanted)];
  for (const { start, end, otherStart, otherEnd } of differences(current, wanted)) {
    while (from.at < start) {
      const length = Math.min(start - from.at, from.left, to.left);
      const attributes = changedMarks(from.attributes, to.attributes, keepsMark);
      if (Object.keys(attributes).length > 0) isChanged = true;
      delta.push({ retain: length, attributes });
      from.skip(length);
      to.skip(length);
    }
    while (to.at < otherEnd) {
      const length = Math.min(otherEnd - to.at, to.left);
      delta.push({ insert: to.slice(length), attributes: to.attributes });
      isChanged = true;
      to.skip(length);
    }
    if (end > start) {
      delta.push({ delete: end - start });
      isChanged = true;
    }
    while (from.at < end) from.skip(Math.min(end - from.at, from.left));
    if (to.at < otherStart) throw new RangeError("the texts are not aligned");
  }
  if (isChanged) type.applyDelta(delta);
}

/** Reads runs by characters. */
class RunReader {
  readonly #runs: readonly TextRun[];
  #index = 0;
  #offset = 0;
  at = 0;

  constructor(runs: readonly TextRun[]) {
    this.#runs = runs.filter((run) => lengthOf(run) > 0);
  }

  get #run(): TextRun {
    const run = this.#runs[this.#index];
    if (run === undefined) throw new RangeError("the text is shorter than expected");
    return run;
  }

  get attributes(): Attributes {
    return this.#run.attributes;
  }

  /** The rest of the run, in characters. */
  get left(): number {
    return lengthOf(this.#run) - this.#offset;
  }

  slice(length: number): string | object {
    const { insert } = this.#run;
    return typeof insert === "string" ? insert.slice(this.#offset, this.#offset + length) : insert;
  }

  skip(length: number): void {
    this.at += length;
    this.#offset += length;
    if (this.left > 0) return;
    this.#index += 1;
    this.#offset = 0;
  }
}

const lengthOf = ({ insert }: TextRun): number => (typeof insert === "string" ? insert.length : 1);

/** Marks to set, or to remove with null. */
function changedMarks(
  from: Attributes,
  to: Attributes,
  keepsMark: (name: string) => boolean,
): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  if (from === to) return changed;
  for (const [name, value] of Object.entries(to))
    if (!Object.hasOwn(from, name) || canonical(from[name]) !== canonical(value)) changed[name] = value;
  for (const name of Object.keys(from))
    if (!Object.hasOwn(to, name) && !isComment(name) && !keepsMark(name)) changed[name] = null;
  return changed;
}

interface Difference {
  readonly start: number;
  readonly end: number;
  readonly otherStart: number;
  readonly otherEnd: number;
}

/** The parts of two texts that differ, in characters and in order; the last one, maybe empty, is at the end of both. */
function* differences(current: readonly TextRun[], wanted: readonly TextRun[]): Generator<Difference> {
  const [from, to] = [new Tokens(current), new Tokens(wanted)];
  const pairs = alignSequences(from.keys, to.keys);
  for (const part of partsBetween(pairs, from.keys.length, to.keys.length)) {
    let { start, end, otherStart, otherEnd } = {
      start: from.offset(part.start),
      end: from.offset(part.end),
      otherStart: to.offset(part.otherStart),
      otherEnd: to.offset(part.otherEnd),
    };
    while (start < end && otherStart < otherEnd) {
      const character = from.characterAt(start);
      if (character === EMBEDDED || character !== to.characterAt(otherStart)) break;
      if (start + character.length > end || otherStart + character.length > otherEnd) break;
      start += character.length;
      otherStart += character.length;
    }
    while (start < end && otherStart < otherEnd) {
      const character = from.characterBefore(end);
      if (character === EMBEDDED || character !== to.characterBefore(otherEnd)) break;
      if (end - character.length < start || otherEnd - character.length < otherStart) break;
      end -= character.length;
      otherEnd -= character.length;
    }
    yield { start, end, otherStart, otherEnd };
  }
  yield { start: from.length, end: from.length, otherStart: to.length, otherEnd: to.length };
}

/** The tokens of a text and where they are. */
class Tokens {
  readonly keys: string[] = [];
  readonly #offsets: number[] = [];
  readonly #text: string;

  constructor(runs: readonly TextRun[]) {
    this.#text = runs.map(({ insert }) => (typeof insert === "string" ? insert : EMBEDDED)).join("");
    const embedded = new Map<number, string>();
    let at = 0;
    for (const run of runs) {
      if (typeof run.insert !== "string") embedded.set(at, `${EMBEDDED}${canonical(run.insert)}`);
      at += lengthOf(run);
    }
    for (const { 0: token, index } of this.#text.matchAll(TOKEN)) {
      this.keys.push(embedded.get(index) ?? token);
      this.#offsets.push(index);
    }
  }

  get length(): number {
    return this.#text.length;
  }

  offset(token: number): number {
    return this.#offsets[token] ?? this.#text.length;
  }

  characterAt(at: number): string {
    return String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
  }

  characterBefore(at: number): string {
    const isPair = at > 1 && (this.#text.codePointAt(at - 2) ?? 0) > 0xffff;
    return this.characterAt(isPair ? at - 2 : at - 1);
  }
}
