import { PlatformFault } from "../faults.ts";

/** Misfortunes of a single call. Shares are from 0 to 1. */
export interface CallOptions {
  /** Share of all calls that are refused as throttled; nothing of them happens. */
  readonly throttles?: number;
  /** Share of the writes of items that are refused because a transaction of others holds an item. */
  readonly conflicts?: number;
  /** Share of the calls that change something, do so, and reject as unavailable all the same. */
  readonly lostAnswers?: number;
}

export type Through = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** What a platform that may crash lets through. */
export interface Crash {
  /** Throws after the crash. */
  alive(): void;
  /** Rejects at the crash, also what is under way. */
  readonly guard: Through;
  /** May crash, just before the work or just after it. */
  readonly commit: Through;
}

/** Ways for a call to take to the platform. */
export interface Calls {
  /** One that changes nothing on disk. */
  readonly read: Through;
  /** One that does. */
  readonly commit: Through;
  /** One that changes items, which others may be in the way of. */
  readonly write: Through;
}

/** Lets calls through, as often as the options say not without harm. */
export function hostileCalls(options: CallOptions, crash: Crash, random: () => number): Calls {
  const { throttles, conflicts, lostAnswers } = options;
  // No number is drawn for what cannot happen, so that a seed means the same whatever options there are.
  const happens = (share = 0): boolean => share > 0 && random() < share;
  const refuse = (share: number | undefined, reason: string): void => {
    if (happens(share)) throw new PlatformFault("throttled", reason);
  };
  const read: Through = (work) =>
    crash.guard(async () => {
      refuse(throttles, "as the hostile platform was told to");
      return work();
    });
  const commit: Through = async (work) => {
    crash.alive();
    refuse(throttles, "as the hostile platform was told to");
    const result = await crash.commit(work);
    if (happens(lostAnswers)) throw new PlatformFault("unavailable", "the answer was lost");
    return result;
  };
  const write: Through = async (work) => {
    crash.alive();
    refuse(conflicts, "another transaction was in the way");
    return commit(work);
  };
  return { read, commit, write };
}
