/** A setting: what its text means, and what is told of it. */
export interface Setting<Value> {
  readonly description: string;
  /** As the table of settings shows it. */
  readonly default: string;
  /** `text` is undefined where it is not set, and where it is set to nothing. Throws an Error that says what it must be. */
  read(text: string | undefined, isEmpty: boolean): Value;
}
