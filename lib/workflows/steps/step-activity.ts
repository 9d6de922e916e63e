import type { Clock } from "../../platform/clock.ts";

/** How long a step that has ended is remembered, and how many of them, milliseconds. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 5_000;
/** File systems take the time of a change from a clock that lags behind, milliseconds. */
const FILE_CLOCK_LAG_MS = 10;

/** The execution of a step in this process, milliseconds since the epoch. */
export interface StepSpan {
  readonly run_id: string;
  readonly root_cause: string;
  readonly from: number;
  /** Infinite while it goes on. */
  readonly to: number;
}

/** Which steps this process executed when: what a file was written by can be told from its time. */
export interface StepActivity {
  /** Answers what ends it. */
  begin(step: Pick<StepSpan, "run_id" | "root_cause">): () => void;
  /** Steps that were executed at a time of the file system. */
  at(fileTime: number): readonly StepSpan[];
  /** When the last step of a root cause ended; infinite while one is executed, 0 where none is remembered. */
  lastOf(rootCause: string): number;
}

export function stepActivity({ now }: Clock): StepActivity {
  const running = new Set<StepSpan>();
  let ended: StepSpan[] = [];
  const all = (): StepSpan[] => [...running, ...ended];
  return {
    begin: ({ run_id, root_cause }) => {
      const span = { run_id, root_cause, from: now(), to: Number.POSITIVE_INFINITY };
      running.add(span);
      return () => {
        if (!running.delete(span)) return;
        ended.push({ ...span, to: now() });
        if (ended.length <= REMEMBERED_MAX * 2) return;
        ended = ended.slice(-REMEMBERED_MAX);
      };
    },
    at: (fileTime) => {
      const since = now() - REMEMBERED_MS;
      ended = ended.filter(({ to }) => to >= since);
      return all().filter(({ from, to }) => fileTime + FILE_CLOCK_LAG_MS >= from && fileTime <= to);
    },
    lastOf: (rootCause) =>
      Math.max(0, ...all().flatMap(({ root_cause, to }) => (root_cause === rootCause ? [to] : []))),
  };
}
