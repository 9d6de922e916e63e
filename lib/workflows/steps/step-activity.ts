import type { Clock } from "../../platform/clock.ts";

/** How long a finished step is remembered, milliseconds, and how many of them. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 5_000;
/** File systems take modification times from a clock that lags behind, milliseconds. */
const FILE_CLOCK_LAG_MS = 10;

/** The execution of a step in this process, milliseconds since the epoch. */
export interface StepSpan {
  readonly run_id: string;
  readonly root_cause: string;
  readonly from: number;
  /** Infinite while the step runs. */
  readonly to: number;
}

/** Records which steps this process executed when, to find the step that wrote a file by the file's time. */
export interface StepActivity {
  /** Returns the function that ends it. */
  begin(step: Pick<StepSpan, "run_id" | "root_cause">): () => void;
  /** Returns the steps that ran at a file system time. */
  at(fileTime: number): readonly StepSpan[];
  /** When the last step of a root cause ended; infinite while one runs, 0 if none is remembered. */
  lastOf(rootCause: string): number;
}

export function stepActivity({ now }: Clock): StepActivity {
  const running = new Set<StepSpan>();
  // In the order in which they ended.
  const ended = new Set<StepSpan>();
  const all = (): StepSpan[] => [...running, ...ended];
  const forgetOld = (): void => {
    const since = now() - REMEMBERED_MS;
    for (const span of ended) {
      if (span.to >= since && ended.size <= REMEMBERED_MAX) return;
      ended.delete(span);
    }
  };
  return {
    begin: ({ run_id, root_cause }) => {
      const span = { run_id, root_cause, from: now(), to: Number.POSITIVE_INFINITY };
      running.add(span);
      return () => {
        if (!running.delete(span)) return;
        ended.add({ ...span, to: now() });
        forgetOld();
      };
    },
    at: (fileTime) => {
      forgetOld();
      return all().filter(({ from, to }) => fileTime + FILE_CLOCK_LAG_MS >= from && fileTime <= to);
    },
    lastOf: (rootCause) =>
      Math.max(0, ...all().flatMap(({ root_cause, to }) => (root_cause === rootCause ? [to] : []))),
  };
}
