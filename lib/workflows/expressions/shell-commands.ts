/** A range of the lexed text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Redirection {
  /** `<`, `<<`, `<<<`, `>` and so on. */
  readonly operator: string;
  /** The descriptor before the operator; empty for the default. */
  readonly descriptor: string;
  /** The target word or the body of the here-document; undefined until it is read. */
  span?: Span;
  /** A here-document whose text is not expanded. */
  readonly quoted?: boolean;
}

/** The words between two shell operators, including keywords and assignments. */
export interface SimpleCommand extends Span {
  readonly words: readonly Span[];
  readonly redirections: readonly Redirection[];
  /** Whether it reads the output of the previous command. */
  readonly piped: boolean;
}

/** A list of commands: the whole text, `$(…)`, `(…)`, backticks, or the words of an array. */
export interface CommandList {
  readonly opener: "text" | "paren" | "array" | "backtick";
  readonly parent: CommandList | undefined;
  /** Whether the shell evaluates their output as arithmetic. */
  readonly arithmetic: boolean;
  /** Start of the content. */
  readonly start: number;
  end: number;
  readonly commands: SimpleCommand[];
}

/** `$name` or `${name…}` that this shell expands. */
export interface Expansion {
  readonly index: number;
  readonly name: string;
  /** `${!name}`: the value is the name of another variable. */
  readonly indirect: boolean;
  /** Whether the shell evaluates the value as arithmetic. */
  readonly arithmetic: boolean;
  /** Whether it is unquoted, so that the value is split into words. */
  readonly bare: boolean;
  readonly list: CommandList;
}
