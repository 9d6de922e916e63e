/** A kind of request. In path and body, `{n}` is the request's number and `{id}` a value that `takes` collected. */
export interface RequestKind {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Share of requests relative to the sum of all weights; defaults to 1. */
  readonly weight?: number;
  readonly expect?: number;
  /** A field of the response whose values are collected for the kinds that need an id of this kind. */
  readonly takes?: string;
  /** Collects all values of that field in a response, not only the first. */
  readonly takesAll?: true;
  /** The kind whose ids this kind needs; without an available id, a request of the first kind is sent instead. */
  readonly needs?: string;
}

export interface LoadPlan {
  readonly port: number;
  readonly token?: string;
  readonly connections: number;
  readonly kinds: readonly RequestKind[];
  /** Total number of requests; without it, requests continue until `seconds` have passed or `stop`. */
  readonly count?: number;
  readonly seconds?: number;
  /** Requests per second, independent of response times; without it, as fast as responses arrive. */
  readonly rate?: number;
}

export interface KindReport {
  readonly answers: number;
  /** Number of responses with an unexpected status. */
  readonly errors: number;
  /** Response time from when the request was due, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadReport {
  /** Time before the first request and after the last response, milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly answers: number;
  readonly errors: number;
  /** Of all requests, as in `KindReport`. */
  readonly p99: number;
  readonly kinds: Readonly<Record<string, KindReport>>;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** The first unexpected responses, as text. */
  readonly samples: readonly string[];
  /** Values collected from responses, by kind. */
  readonly taken: Readonly<Record<string, readonly string[]>>;
}

/** Statistics of a running load since the previous report. */
export interface RecentLoad {
  readonly seconds: number;
  readonly answers: number;
  readonly errors: number;
  /** Response time from when a request was due, milliseconds, of all requests and by kind; only kinds with a response. */
  readonly p99: Readonly<Record<string, number>>;
}

/** Milliseconds since the epoch, with fractions. */
export const epochMs = (): number => performance.timeOrigin + performance.now();
