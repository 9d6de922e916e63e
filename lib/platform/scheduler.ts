/** The queue of what fires schedules: the scheduler wakes it. */
export const FIRE_QUEUE = "fire";
/** What the names of the scheduler's rules begin with, after the stack's. */
export const SCHEDULE_RULES = "schedule-";

/**
 * The scheduler port: has those who wait for the clock woken. What fires schedules is woken each minute in any
 * case and fires what is due; here it is told of minutes to be woken at punctually. So nothing is lost where it
 * cannot be told, it is late by less than a minute.
 */
export interface Scheduler {
  /**
   * Has `FIRE_QUEUE` woken at the minutes of these expressions too (five fields, UTC), as far as the platform can
   * say them and has room. Adds what is missing; gives up within seconds, as a request waits for it.
   */
  ensure(expressions: readonly string[]): Promise<void>;
  /** The same where these are all the expressions there are: it is woken for no others any more. */
  reconcile(expressions: readonly string[]): Promise<void>;
  /**
   * Sends the timers that are due by `now` (milliseconds since the epoch) and that no clock of the platform sends;
   * how many. To be called each minute.
   */
  sweepTimers(now: number): Promise<number>;
}
