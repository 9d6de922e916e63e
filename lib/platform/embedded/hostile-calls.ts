import { PlatformFault } from "../faults.ts";

/** Failures of single calls. Shares are from 0 to 1. */
export interface CallOptions {
  /** Share of all calls that are rejected as throttled, without effect. */
  readonly throttles?: number;
  /** Share of item writes that are rejected because of a conflicting transaction. */
  readonly conflicts?: number;
  /** Share of changing calls that succeed and yet reject as unavailable. */
  readonly lostAnswers?: number;
}

export type Through = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Hooks of a platform that may crash. */
export interface Crash {
  /** Throws after the crash. */
  alive(): void;
  /** Rejects at the crash, including pending calls. */
  readonly guard: Through;
  /** May crash immediately before or after the work. */
  readonly commit: Through;
}

/** Wrappers for calls to the platform. */
export interface Calls {
  /** Reads. */
  readonly read: Through;
  /** Commits. */
  readonly commit: Through;
  /** Commits of items, which may conflict with other transactions. */
  readonly write: Through;
}

/** Wraps calls so that they fail as often as the options say. */
export function hostileCalls(options: CallOptions, crash: Crash, random: () => number): Calls {
  const { throttles, conflicts, lostAnswers } = options;
  // No number is drawn for impossible failures, so that a seed means the same for any options.
  const happens = (share = 0): boolean => share > 0 && random() < share;
  const refuse = (share: number | undefined, reason: string): void => {
    if (happens(share)) throw new PlatformFault("throttled", reason);
  };
  const read: Through = (work) =>
    crash.guard(async () => {
      refuse(throttles, "injected by the hostile platform");
      return work();
    });
  const commit: Through = async (work) => {
    crash.alive();
    refuse(throttles, "injected by the hostile platform");
    const result = await crash.commit(work);
    if (happens(lostAnswers)) throw new PlatformFault("unavailable", "the response was lost");
    return result;
  };
  const write: Through = async (work) => {
    crash.alive();
    refuse(conflicts, "a concurrent transaction conflicted");
    return commit(work);
  };
  return { read, commit, write };
}
