import type { PlatformFaultCode } from "../../faults.ts";
import type { NewText, StoredText, TextPlace, TextTerm } from "../../full-text.ts";

/** What the thread of the full-text index is started with. */
export interface IndexThreadData {
  /** The database of the index. */
  readonly path: string;
}

/** The places by their numbers, from 1. Better places have higher numbers. */
export const PLACES: readonly TextPlace[] = ["comment", "body", "heading", "title"];

/** The rows whose ids a caller knows: up to `rows`, of this index. */
export interface KnownRows {
  /** Identifies the index: another one has other row numbers. */
  readonly index: string;
  readonly rows: number;
}

/** Where texts match, by their row numbers, which begin with 1. */
export interface FoundRows {
  readonly index: string;
  /** The number of the place of each row; 0 if the text does not match. */
  readonly places: Uint8Array<ArrayBuffer>;
  /** `ids` are of the rows after this one. */
  readonly after: number;
  /** In order, joined by line breaks: one string is copied faster than many. */
  readonly ids: string;
}

/** The calls of the thread, with their results. */
export interface IndexCalls {
  get: { readonly args: readonly [ids: readonly string[]]; readonly result: StoredText[] };
  put: { readonly args: readonly [text: NewText, replaces: string | undefined]; readonly result: boolean };
  find: {
    readonly args: readonly [terms: readonly TextTerm[], known: KnownRows];
    readonly result: FoundRows;
  };
  shrink: { readonly args: readonly []; readonly result: undefined };
  /** Commits what is pending; nothing may be called afterwards. */
  close: { readonly args: readonly []; readonly result: undefined };
}

export type IndexCallName = keyof IndexCalls;

export interface ToIndexThread {
  readonly id: number;
  readonly name: IndexCallName;
  readonly args: readonly unknown[];
}

export type FromIndexThread =
  | { readonly kind: "done"; readonly id: number; readonly value: unknown }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly message: string;
      /** Undefined for a defect of the program. */
      readonly code: PlatformFaultCode | undefined;
    }
  /** The index could not be used, and was replaced by an empty one. */
  | { readonly kind: "replaced"; readonly why: string };
