/** A stretch of the lexed text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Redirection {
  /** `<`, `<<`, `<<<`, `>` and so on. */
  readonly operator: string;
  /** What stands before the operator, empty for the default. */
  readonly descriptor: string;
  /** The target's word or the body of the here-document; undefined until it is read. */
  span?: Span;
  /** A here-document whose text is not expanded. */
  readonly quoted?: boolean;
}

/** Words between two operators of the shell, keywords and assignments included. */
export interface SimpleCommand extends Span {
  readonly words: readonly Span[];
  readonly redirections: readonly Redirection[];
  /** It reads the output of the command before it. */
  readonly piped: boolean;
}

/** Commands that stand side by side: the whole text, `$(…)`, `(…)`, backticks, and the words of an array. */
export interface CommandList {
  readonly opener: "text" | "paren" | "array" | "backtick";
  readonly parent: CommandList | undefined;
  /** The shell calculates with what they print. */
  readonly arithmetic: boolean;
  /** Of its content. */
  readonly start: number;
  end: number;
  readonly commands: SimpleCommand[];
}

/** `$name` or `${name…}` that this shell expands. */
export interface Expansion {
  readonly index: number;
  readonly name: string;
  /** `${!name}`: the value names another variable. */
  readonly indirect: boolean;
  /** The shell calculates with the value. */
  readonly arithmetic: boolean;
  /** Outside of quotes, where the value is split into words. */
  readonly bare: boolean;
  readonly list: CommandList;
}
