import { CronExpressionParser } from "cron-parser";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextFire } from "../../workflows/cron/cron.ts";
import { expandCron } from "../../workflows/cron/cron-fields.ts";
import { fromAwsCron, toAwsCron } from "./cron.ts";

const MINUTE_MS = 60_000;
const START = Date.UTC(2027, 0, 1);
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** One field as AWS documents it: `*`, `?`, values, ranges, lists and steps; `names` are the values from `min` on. */
function awsField(text: string, min: number, max: number, names: readonly string[] = []): Set<number> {
  const value = (part: string): number => (names.includes(part) ? names.indexOf(part) + min : Number(part));
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [range = "", step] = item.split("/");
    const [from = "", to] = range === "*" || range === "?" ? [String(min), String(max)] : range.split("-");
    const end = to === undefined ? (step === undefined ? value(from) : max) : value(to);
    for (let number = value(from); number <= end; number += Number(step ?? 1)) values.add(number);
  }
  return values;
}

/** Whether an EventBridge rule fires at a minute, in UTC. */
function awsFires(expression: string, at: number): boolean {
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", year = ""] = expression
    .slice("cron(".length, -1)
    .split(" ");
  expect([dayOfMonth, dayOfWeek].filter((field) => field === "?")).toHaveLength(1);
  expect(year).toBe("*");
  const date = new Date(at);
  return (
    awsField(minute, 0, 59).has(date.getUTCMinutes()) &&
    awsField(hour, 0, 23).has(date.getUTCHours()) &&
    awsField(dayOfMonth, 1, 31).has(date.getUTCDate()) &&
    awsField(month, 1, 12, MONTHS).has(date.getUTCMonth() + 1) &&
    awsField(dayOfWeek, 1, 7, WEEKDAYS).has(date.getUTCDay() + 1)
  );
}

/** The fire times of an EventBridge rule from `from` to before `until`, both at the start of a minute, in UTC. */
function awsTimes(expression: string, from: number, until: number): number[] {
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = expression
    .slice("cron(".length, -1)
    .split(" ");
  const fields = {
    minutes: awsField(minute, 0, 59),
    hours: awsField(hour, 0, 23),
    days: awsField(dayOfMonth, 1, 31),
    months: awsField(month, 1, 12),
    weekdays: awsField(dayOfWeek, 1, 7),
  };
  const times: number[] = [];
  for (let at = from; at < until; at += MINUTE_MS) {
    const date = new Date(at);
    if (!fields.minutes.has(date.getUTCMinutes()) || !fields.hours.has(date.getUTCHours())) continue;
    if (!fields.days.has(date.getUTCDate()) || !fields.months.has(date.getUTCMonth() + 1)) continue;
    if (fields.weekdays.has(date.getUTCDay() + 1)) times.push(at);
  }
  return times;
}

/** Whether a five-field expression fires at a minute, in UTC; if both day fields are restricted, either suffices. */
function cronFires(expression: string, at: number): boolean {
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = expression
    .toUpperCase()
    .split(" ");
  const date = new Date(at);
  const weekdays = new Set([...awsField(dayOfWeek, 0, 7, WEEKDAYS)].map((day) => day % 7));
  const onDay = awsField(dayOfMonth, 1, 31).has(date.getUTCDate());
  const onWeekday = weekdays.has(date.getUTCDay());
  const either = dayOfMonth !== "*" && dayOfWeek !== "*";
  return (
    awsField(minute, 0, 59).has(date.getUTCMinutes()) &&
    awsField(hour, 0, 23).has(date.getUTCHours()) &&
    awsField(month, 1, 12, MONTHS).has(date.getUTCMonth() + 1) &&
    (either ? onDay || onWeekday : onDay && onWeekday)
  );
}

const number = (min: number, max: number) => fc.integer({ min, max });

/** A field of a five-field expression: values, ranges, steps and names, and lists of them. */
function field(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const value =
    names.length === 0
      ? number(min, max).map(String)
      : fc.oneof(number(min, max).map(String), fc.constantFrom(...names));
  const range = fc
    .tuple(number(min, max), number(min, max))
    .map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`);
  const step = fc.tuple(fc.oneof(fc.constant("*"), range), number(1, max)).map(([of, by]) => `${of}/${by}`);
  const list = fc
    .array(fc.oneof(value, range), { minLength: 2, maxLength: 4 })
    .map((items) => items.join(","));
  return fc.oneof({ weight: 2, arbitrary: fc.constant("*") }, value, range, step, list);
}

const expressions = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12, MONTHS), field(0, 7, WEEKDAYS))
  .map((fields) => fields.join(" "));
/** Random minutes of four years including a leap year, and minutes that the expressions favour. */
const minutes = fc
  .tuple(number(0, 4 * 365), number(0, 23), number(0, 59))
  .map(([day, hour, minute]) => START + day * 24 * 60 * MINUTE_MS + (hour * 60 + minute) * MINUTE_MS);

describe("a five-field expression for EventBridge", () => {
  it("fires at the same minutes", () => {
    void fc.assert(
      fc.property(expressions, fc.array(minutes, { minLength: 5, maxLength: 5 }), (expression, times) => {
        const said = toAwsCron(expression);
        // Skips expressions that never fire or exceed EventBridge's length; both are rare here.
        fc.pre(said.length > 0);
        let next: number[] = [];
        try {
          const parsed = CronExpressionParser.parse(`0 ${expression}`, {
            tz: "UTC",
            currentDate: new Date(START),
          });
          next = parsed.take(3).map((date) => date.getTime());
        } catch {
          // It never fires, or contains a list that cron-parser rejects.
        }
        for (const at of next) expect([at, cronFires(expression, at)]).toEqual([at, true]);
        for (const at of [...times, ...next]) {
          expect([at, said.some((one) => awsFires(one, at))]).toEqual([at, cronFires(expression, at)]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("round-trips to an expression that fires at the same minutes", () => {
    void fc.assert(
      fc.property(expressions, minutes, (expression, at) => {
        const said = toAwsCron(expression);
        const back = said.map(fromAwsCron);
        expect(back).not.toContain(undefined);
        for (const [index, one] of said.entries())
          expect(cronFires(back[index] ?? "", at)).toBe(awsFires(one, at));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ["*/15 * * * *", ["cron(0,15,30,45 * * * ? *)"]],
    ["* * * * *", ["cron(* * * * ? *)"]],
    ["0 9 * * 1-5", ["cron(0 9 ? * 2-6 *)"]],
    ["0 9 * * MON,SUN", ["cron(0 9 ? * 1,2 *)"]],
    ["0 9 * * 7", ["cron(0 9 ? * 1 *)"]],
    ["0 9 * * 0,7", ["cron(0 9 ? * 1 *)"]],
    ["5 4 1 jan *", ["cron(5 4 1 1 ? *)"]],
    ["1-5,3,3 0 * * *", ["cron(1-5 0 * * ? *)"]],
    ["0 0 13 * 5", ["cron(0 0 13 * ? *)", "cron(0 0 ? * 6 *)"]],
    ["0 0 1-31 * 5", ["cron(0 0 * * ? *)", "cron(0 0 ? * 6 *)"]],
    ["0 0 31 2 1", ["cron(0 0 ? 2 2 *)"]],
    ["1-59/2 0 1 1 *", [`cron(${Array.from({ length: 30 }, (_, n) => 2 * n + 1).join(",")} 0 1 1 ? *)`]],
  ])("says %s as %j", (expression, said) => {
    expect(toAwsCron(expression)).toEqual(said);
  });

  it.each([
    "0 0 31 2 *",
    "0 0 L * *",
    "0 0 * * 5#2",
    "0 0 * * 5L",
    "H * * * *",
    "* * * *",
    "0 * * * * *",
    "61 * * * *",
    "",
    "@daily",
  ])("says nothing for %j", (expression) => {
    expect(toAwsCron(expression)).toEqual([]);
  });

  it("returns nothing if the expression would exceed EventBridge's length", () => {
    const odd = (max: number) =>
      Array.from({ length: max }, (_, n) => n + 1)
        .filter((n) => n !== 5)
        .join(",");
    expect(toAwsCron(`${odd(59)} ${odd(23)} ${odd(31)} * *`)).toEqual([]);
  });
});

describe("the rules of a schedule in UTC", () => {
  const DAY_MS = 24 * 60 * MINUTE_MS;
  /** Also generates steps that start at a value. */
  const more = fc
    .tuple(expressions, number(0, 4), number(1, 6), number(1, 6))
    .map(([expression, at, from, step]) => expression.split(" ").with(at, `${from}/${step}`).join(" "));

  it("fire exactly in the minutes in which the schedule is due", () => {
    void fc.assert(
      fc.property(fc.oneof(expressions, more), minutes, fc.boolean(), (expression, start, atFire) => {
        const said = toAwsCron(expandCron(expression));
        fc.pre(said.length > 0);
        // A day with a fire time, or any day.
        const from = atFire ? nextFire(expression, "UTC", start) - 60 * MINUTE_MS : start;
        const due: number[] = [];
        for (let at = nextFire(expression, "UTC", from - 1); at < from + DAY_MS; ) {
          due.push(at);
          at = nextFire(expression, "UTC", at);
        }
        const fired = new Set(said.flatMap((one) => awsTimes(one, from, from + DAY_MS)));
        expect([...fired].sort((a, b) => a - b)).toEqual(due);
      }),
      { numRuns: 200 },
    );
  });

  it("exist for every expression that fires, unless it exceeds EventBridge's length", () => {
    void fc.assert(
      fc.property(expressions, (expression) => {
        if (toAwsCron(expandCron(expression)).length > 0) return;
        const written = expandCron(expression);
        if (written.length > 200) return;
        expect(() => nextFire(expression, "UTC", START)).toThrow("never fires");
      }),
      { numRuns: 300 },
    );
  });
});

describe("an EventBridge expression as five fields", () => {
  it.each([
    ["cron(0/5 8-17 ? * MON-FRI *)", "0/5 8-17 * * MON-FRI"],
    ["cron(0 12 ? * 1,7 *)", "0 12 * * 0,6"],
    ["cron(0 12 ? * 2/2 *)", "0 12 * * 1/2"],
    ["cron(15 10 1 JAN,JUL ? *)", "15 10 1 JAN,JUL *"],
  ])("reads %s as %s", (expression, read) => {
    expect(fromAwsCron(expression)).toBe(read);
  });

  it.each([
    "cron(0 0 L * ? *)",
    "cron(0 0 15W * ? *)",
    "cron(0 0 ? * 6#1 *)",
    "cron(0 0 ? * 6L *)",
    "cron(0 0 1 1 ? 2030)",
    "cron(0 0 * * * *)",
    "cron(0 0 ? * ? *)",
    "cron(0 0 ? * 0 *)",
    "cron(0 0 ? * 8 *)",
    "cron(60 0 * * ? *)",
    "rate(1 minute)",
    "0 0 * * *",
  ])("has none for %s", (expression) => {
    expect(fromAwsCron(expression)).toBeUndefined();
  });
});
