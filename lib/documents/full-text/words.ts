import type { TextTerm } from "../../platform/full-text.ts";
import { fold } from "../fold.ts";

/** A word of a text. */
export interface Word {
  readonly word: string;
  /** Position of its characters in the text, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** Letters, digits, marks, and format characters, which are invisible and may be inside a word. */
const SEQUENCE = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu;
const SIMPLE = /^[a-z0-9]+$/i;
const LETTERS = /[\p{L}\p{N}]/u;
const FORMAT = /\p{Cf}+/gu;
/** Scripts without spaces between words, and hangul, whose words have endings. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}]/u;
/** Maximum characters of a word; the rest is ignored. */
const WORD_MAX = 64;
/** Shorter words match only whole words: too many words have their beginning. */
const PREFIX_MIN = 3;
/** Maximum terms of a query. */
export const TERMS_MAX = 32;

/** Folds a word. Hangul is recomposed, so that a syllable is one character. */
const normalize = (text: string): string => fold(text.replace(FORMAT, "")).normalize("NFC");

/**
 * Splits a text into words in lower case without accents. Ideographs, kana and hangul are split into pairs of neighbouring
 * characters, and the last one alone.
 */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
    if (SIMPLE.test(sequence))
      words.push({ word: cut(sequence.toLowerCase()), start: index, end: index + sequence.length });
    else words.push(...splitSequence(sequence, index));
  }
  return words;
}

/** Splits where the script changes, and where normalization yields other characters than letters. */
function splitSequence(sequence: string, from: number): Word[] {
  const words: Word[] = [];
  let run: Word[] = [];
  let isUnspaced = false;
  const endRun = (): void => {
    words.push(...(isUnspaced ? toPairs(run) : toWord(run)));
    run = [];
  };
  let at = from;
  for (const character of sequence) {
    const start = at;
    at += character.length;
    const folded = normalize(character);
    // A mark belongs to the character before it.
    const last = run.at(-1);
    if (folded === "" && last !== undefined) run[run.length - 1] = { ...last, end: at };
    for (const word of folded) {
      if (!LETTERS.test(word)) {
        endRun();
        continue;
      }
      if (UNSPACED.test(word) !== isUnspaced) {
        endRun();
        isUnspaced = !isUnspaced;
      }
      run.push({ word, start, end: at });
    }
  }
  endRun();
  return words;
}

const cut = (word: string): string =>
  word.length <= WORD_MAX ? word : [...word].slice(0, WORD_MAX).join("");

function toWord(run: readonly Word[]): Word[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ word: cut(run.map(({ word }) => word).join("")), start: first.start, end: last.end }];
}

const toPairs = (run: readonly Word[]): Word[] =>
  run.map(({ word, start, end }, at) => {
    const next = run[at + 1];
    return next === undefined ? { word, start, end } : { word: word + next.word, start, end: next.end };
  });

/** The words of a text as the full-text port takes them. */
export const joinWords = (text: string): string =>
  splitWords(text)
    .map(({ word }) => word)
    .join(" ");

/** Quoted texts, and others without spaces. A quote without a partner is a character like others. */
const PIECES = /"([^"]*)"|“([^”]*)”|«([^»]*)»|(\S+)/gu;

/**
 * The terms of a query, each once: all of them must be found. A quoted text is a phrase; another word of three or more
 * characters is the beginning of a word. Empty if the query has no words.
 */
export function parseTerms(query: string): TextTerm[] {
  const terms = new Map<string, TextTerm>();
  for (const { 1: double, 2: curly, 3: angle, 4: bare } of query.matchAll(PIECES)) {
    const term = toTerm(double ?? curly ?? angle ?? bare ?? "", bare !== undefined);
    if (term !== undefined) terms.set(`${term.words.join(" ")}${term.isPrefix ? "*" : ""}`, term);
  }
  return [...terms.values()];
}

function toTerm(text: string, mayBePrefix: boolean): TextTerm | undefined {
  const words = splitWords(text).map(({ word }) => word);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  if (!UNSPACED.test(last)) return { words, isPrefix: mayBePrefix && [...last].length >= PREFIX_MIN };
  // The text may go on after the last character: a pair ends with it, or it is the beginning of one.
  const before = words.at(-2);
  const isInPair =
    before !== undefined && UNSPACED.test(before) && [...before].length === 2 && before.endsWith(last);
  return isInPair ? { words: words.slice(0, -1), isPrefix: false } : { words, isPrefix: true };
}
