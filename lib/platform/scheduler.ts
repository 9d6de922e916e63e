/** The queue whose consumer fires schedules; the scheduler wakes it. */
export const FIRE_QUEUE = "fire";
/** Name prefix of the scheduler's rules, after the stack's name. */
export const SCHEDULE_RULES = "schedule-";

/**
 * The scheduler port: wakes the consumer that fires schedules. It runs every minute in any case and fires what is due;
 * this port adds minutes at which it must run punctually. If that fails, schedules fire less than a minute late and
 * none is lost.
 */
export interface Scheduler {
  /**
   * Also wakes `FIRE_QUEUE` at the minutes of these expressions (five fields, UTC), if the platform can express them
   * and has room. Adds missing rules; gives up within seconds because a request waits for it.
   */
  ensure(expressions: readonly string[]): Promise<void>;
  /** Like `ensure`, and removes the rules of all other expressions. */
  reconcile(expressions: readonly string[]): Promise<void>;
  /**
   * Sends the timers that are due by `now` (milliseconds since the epoch) and that the platform does not send itself.
   * Returns their number. Must be called every minute.
   */
  sweepTimers(now: number): Promise<number>;
}
