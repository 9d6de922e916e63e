/**
 * The full-text port: an index of texts that were split into words by the caller. It knows neither languages nor
 * permissions. Choice: infra/decisions/0127 and 0128.
 */

/**
 * The words of a text by place. Each element is a part that a phrase cannot leave: its words in order, separated by
 * single spaces. A word has letters, marks and digits only.
 */
export interface TextWords {
  readonly title: readonly string[];
  readonly headings: readonly string[];
  readonly body: readonly string[];
  readonly comments: readonly string[];
}

/** A text as stored. */
export interface StoredText {
  readonly id: string;
  /** Differs after each change. */
  readonly version: string;
  /** What the caller stored with it. It is compressed on the storage. */
  readonly data: Uint8Array;
}

export interface NewText extends StoredText {
  readonly words: TextWords;
}

/** A word, or several that follow each other; the last one may be the beginning of a word. */
export interface TextTerm {
  readonly words: readonly string[];
  readonly isPrefix: boolean;
}

/**
 * Where a text matches, best first: every term in the title, in the title or headings, or in these or the body; or every
 * term in comments.
 */
export type TextPlace = "title" | "heading" | "body" | "comment";

export interface FullText {
  /** The texts found, in any order. */
  get(ids: readonly string[]): Promise<StoredText[]>;
  /**
   * Stores a text, if the stored one still has the version `replaces`; undefined if there must be none. Returns false
   * otherwise: the caller reads what it indexes again. So an older state never replaces a newer one.
   */
  put(text: NewText, replaces: string | undefined): Promise<boolean>;
  /**
   * Where each of these texts matches every term; undefined if it does not. At least one term. What is known about the
   * texts is kept with the array, so a search of the same array is faster. It must not be changed afterwards.
   */
  find(
    terms: readonly TextTerm[],
    among: readonly { readonly id: string }[],
  ): Promise<readonly (TextPlace | undefined)[]>;
}
