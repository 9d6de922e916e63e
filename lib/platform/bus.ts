/** The bus port: EventBridge. An entry goes to every rule whose pattern it matches, at least once. */

export interface BusEntry {
  /** `weft.events` for events, `weft.commands` for commands. */
  readonly source: string;
  readonly detailType: string;
  /** JSON object. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What a rule's target receives: the JSON that EventBridge sends to the queue. */
export interface BusEnvelope<Detail = Readonly<Record<string, unknown>>> {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": string;
  readonly source: string;
  readonly account: string;
  /** ISO 8601, whole seconds. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Detail;
}

/** EventBridge's pattern language, limited to the operators that the template uses. */
export type PatternTest =
  | string
  | number
  | boolean
  | null
  | { readonly prefix: string }
  | { readonly suffix: string }
  | { readonly exists: boolean }
  | { readonly wildcard: string }
  | { readonly "equals-ignore-case": string }
  | { readonly "anything-but": string | number | readonly (string | number)[] }
  | { readonly numeric: readonly (string | number)[] };

export type EventPattern = { readonly [field: string]: readonly PatternTest[] | EventPattern };

export interface Bus {
  /** The entries are accepted when the promise settles, with the durability of `Tables.write`. */
  publish(entries: readonly BusEntry[]): Promise<void>;
}
