import { callerOf } from "./caller.ts";
import type { FileResponse } from "./file-response.ts";
import { RequestSeats } from "./request-seats.ts";
import type { RequestInfo } from "./route.ts";
import { EVENT_STREAM, STREAM_HEADERS } from "./server-sent-events.ts";

/** Limits of streams of events. */
export interface StreamLimits {
  /** Streams at the same time: of all callers, and of one caller. */
  readonly total: number;
  readonly perCaller: number;
  /** Time after which a stream ends and its client connects again, milliseconds; less than the timeout of a route. */
  readonly durationMs: number;
  /** Time after which an idle stream sends something, milliseconds. */
  readonly heartbeatMs: number;
  /** Time after which the credentials are checked again before something is sent, milliseconds. */
  readonly checkMs: number;
  /** Time between two reads while other processes may write, milliseconds; undefined if this one writes everything. */
  readonly refreshMs: number | undefined;
}

export const STREAM_LIMITS: StreamLimits = {
  total: 1_000,
  perCaller: 50,
  durationMs: 280_000,
  heartbeatMs: 15_000,
  checkMs: 1_000,
  refreshMs: undefined,
};

/** Timeout of a route that responds with a stream, seconds: longer than the stream. */
export const STREAM_TIMEOUT_SECONDS = 300;

/** What a stream is made of. */
export interface StreamSource {
  /** Who may not have more streams at once than the limit. */
  readonly request: RequestInfo;
  /** Resolves while the caller may read the stream; otherwise rejects, and the stream ends. */
  check(): Promise<unknown>;
  /** Produces the text. It ends soon after the signal is aborted, also while it waits. */
  produce(signal: AbortSignal): AsyncGenerator<string, void>;
}

/**
 * The streams of server-sent events of this process. A stream produces its text while the client reads it, so that a
 * slow client costs no memory.
 */
export class EventStreams {
  readonly limits: StreamLimits;
  readonly #seats = new RequestSeats();

  constructor(limits: Partial<StreamLimits> = {}) {
    this.limits = { ...STREAM_LIMITS, ...limits };
  }

  /** Throws `too_many_requests`, and `unavailable` when the server stops. */
  open({ request, check, produce }: StreamSource): FileResponse {
    const { total, perCaller, durationMs, checkMs } = this.limits;
    const seat = this.#seats.take([
      { key: "", max: total, message: `At most ${total} streams may be open at the same time` },
      {
        key: callerOf(request),
        max: perCaller,
        message: `A caller may have at most ${perCaller} streams open`,
      },
    ]);
    const disconnected = new AbortController();
    const signal = AbortSignal.any([disconnected.signal, seat.stopping, AbortSignal.timeout(durationMs)]);
    const text = checked(produce(signal), check, checkMs);
    const close = async (): Promise<IteratorResult<string, undefined>> => {
      seat.release();
      disconnected.abort();
      await text.return(undefined);
      return { done: true, value: undefined };
    };
    // Also if the client does not read any more.
    signal.addEventListener("abort", () => void close().catch(() => undefined), { once: true });
    const content: AsyncIterableIterator<string> = {
      next: async () => {
        const next = await text.next().catch(async (error: unknown) => {
          await close();
          throw error;
        });
        return next.done === true ? close() : next;
      },
      return: close,
      [Symbol.asyncIterator]: () => content,
    };
    return { type: `${EVENT_STREAM}; charset=utf-8`, headers: STREAM_HEADERS, content };
  }

  /** Ends all streams; their clients connect again. */
  stop(): void {
    this.#seats.stop();
  }
}

/** Ends before text that is produced when the caller may no longer read it. */
async function* checked(
  text: AsyncGenerator<string, void>,
  check: () => Promise<unknown>,
  everyMs: number,
): AsyncGenerator<string, undefined> {
  let checkedAt = performance.now();
  for await (const part of text) {
    if (performance.now() - checkedAt >= everyMs) {
      const isAllowed = await check().then(
        () => true,
        () => false,
      );
      if (!isAllowed) return;
      checkedAt = performance.now();
    }
    yield part;
  }
}
