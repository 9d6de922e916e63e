/** A formatter takes about 50 KB; IANA has some 600 names, spellings in other letters apart. */
const CACHED_ZONES = 256;
const IANA_NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;
const OFFSET = /GMT(?:(?<sign>[+-])(?<hours>\d{2}):(?<minutes>\d{2})(?::(?<seconds>\d{2}))?)?$/;
const SECOND_MS = 1_000;

const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * How far a zone's clock is ahead of UTC at an instant, in milliseconds. `timezone` is an IANA name.
 * Throws an `Error` naming a zone that is not known.
 */
export function offsetAt(timezone: string, instantMs: number): number {
  if (timezone === "UTC") return 0;
  const text = formatterOf(timezone).format(instantMs);
  const found = OFFSET.exec(text)?.groups;
  if (found?.sign === undefined) return 0;
  const seconds =
    Number(found.hours) * 3_600 +
    Number(found.minutes) * 60 +
    (found.seconds === undefined ? 0 : Number(found.seconds));
  return (found.sign === "-" ? -seconds : seconds) * SECOND_MS;
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const made = makeFormatter(timezone);
  if (formatters.size >= CACHED_ZONES) formatters.clear();
  formatters.set(timezone, made);
  return made;
}

function makeFormatter(timezone: string): Intl.DateTimeFormat {
  try {
    if (!IANA_NAME.test(timezone)) throw new RangeError("not a name");
    return new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      timeZoneName: "longOffset",
      year: "numeric",
    });
  } catch (cause) {
    throw new Error(`"${timezone.slice(0, 64)}" is no time zone: give an IANA name such as Europe/Berlin`, {
      cause,
    });
  }
}
