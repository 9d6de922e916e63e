/** A kind of request. `{n}` in path and body is the request's number, `{id}` one that `takes` found before. */
export interface RequestKind {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Of all requests, this many in the sum of all weights; 1 where it is not given. */
  readonly weight?: number;
  readonly expect?: number;
  /** A field of the answer whose values are kept, and given to kinds that ask for an id of this one. */
  readonly takes?: string;
  /** The kind whose ids this one needs; without one at hand, a request of the first kind is sent instead. */
  readonly needs?: string;
}

export interface LoadPlan {
  readonly port: number;
  readonly token?: string;
  readonly connections: number;
  readonly kinds: readonly RequestKind[];
  /** Requests in all; without it until the time is over or it is told to stop. */
  readonly count?: number;
  readonly seconds?: number;
  /** Requests a second, whatever the answers take; as fast as the answers come where it is not given. */
  readonly rate?: number;
}

export interface KindReport {
  readonly answers: number;
  /** Answers with another status than the expected one. */
  readonly errors: number;
  /** Milliseconds from when the request was due. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadReport {
  /** Milliseconds since the epoch: before the first request, after the last answer. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly answers: number;
  readonly errors: number;
  readonly kinds: Readonly<Record<string, KindReport>>;
  /** How many answers of each status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** The first unexpected answers, as text. */
  readonly samples: readonly string[];
  /** What was taken from answers, by kind. */
  readonly taken: Readonly<Record<string, readonly string[]>>;
}

/** What a load that goes on did since it was last asked. */
export interface RecentLoad {
  readonly seconds: number;
  readonly answers: number;
  readonly errors: number;
  /** Milliseconds from when a request was due, by kind; of kinds that had an answer. */
  readonly p99: Readonly<Record<string, number>>;
}

/** Milliseconds since the epoch, with parts of them. */
export const epochMs = (): number => performance.timeOrigin + performance.now();
