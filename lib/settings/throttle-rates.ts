import type { Setting } from "./setting.ts";

/** So many requests in so long. */
export interface ThrottleRate {
  readonly count: number;
  readonly periodMs: number;
}

/** What is throttled together: all routes of a scope share what a caller has. Reference 1.1. */
export type ThrottleScope =
  | "document"
  | "document_access"
  | "invitation"
  | "document_ask_for_access"
  | "config"
  | "user_list"
  | "failed_authentication";

/** All rates of a scope must hold; none where there are none. */
export type ThrottleRates = Readonly<Record<ThrottleScope, readonly ThrottleRate[]>>;

const PERIODS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
};
const RATE = /^([1-9]\d{0,17})\/(s|sec|second|m|min|minute|h|hour|d|day)$/;

/** A rate; null where there is none, undefined where nothing was said. */
type RateSetting = Setting<ThrottleRate | null | undefined>;

const rate = (scope: string, otherwise: string): RateSetting => ({
  ...rateSetting,
  description: `Requests of one caller to ${scope} in a time; empty or off for any number`,
  default: `${otherwise} on AWS and where HOST is not a loopback address; else off`,
});

const rateSetting: Pick<RateSetting, "read"> = {
  read: (text, isEmpty) => {
    if (text === undefined) return isEmpty ? null : undefined;
    if (text === "off") return null;
    if (!RATE.test(text))
      throw new Error("must be a rate such as 80/minute, with second, minute, hour or day, or off");
    return toRate(text);
  },
};

const toRate = (text: string): ThrottleRate => {
  const [, count = "", unit = ""] = RATE.exec(text) ?? [];
  return { count: Number(count), periodMs: PERIODS_MS[unit.charAt(0)] ?? 0 };
};

/** Failed authentications of one address, everywhere. */
const FAILED_AUTHENTICATION_RATE = "300/minute";

/** What holds where nothing is said and others can reach the server. Reference 1.1. */
const DEFAULT_RATES = {
  API_DOCUMENT_THROTTLE_RATE: "80/minute",
  API_DOCUMENT_ACCESS_THROTTLE_RATE: "50/minute",
  API_INVITATION_THROTTLE_RATE: "60/minute",
  API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE: "30/minute",
  API_CONFIG_THROTTLE_RATE: "30/minute",
  API_USERS_LIST_THROTTLE_RATE_BURST: "30/minute",
  API_USERS_LIST_THROTTLE_RATE_SUSTAINED: "180/hour",
} as const;
type RateName = keyof typeof DEFAULT_RATES;

/** The settings of throttles, rows of the table of settings. */
export const throttleSettings = {
  API_DOCUMENT_THROTTLE_RATE: rate("documents", DEFAULT_RATES.API_DOCUMENT_THROTTLE_RATE),
  API_DOCUMENT_ACCESS_THROTTLE_RATE: rate("accesses", DEFAULT_RATES.API_DOCUMENT_ACCESS_THROTTLE_RATE),
  API_INVITATION_THROTTLE_RATE: rate("invitations", DEFAULT_RATES.API_INVITATION_THROTTLE_RATE),
  API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE: rate(
    "requests for access",
    DEFAULT_RATES.API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE,
  ),
  API_CONFIG_THROTTLE_RATE: rate("the configuration", DEFAULT_RATES.API_CONFIG_THROTTLE_RATE),
  API_USERS_LIST_THROTTLE_RATE_BURST: rate(
    "the list of users",
    DEFAULT_RATES.API_USERS_LIST_THROTTLE_RATE_BURST,
  ),
  API_USERS_LIST_THROTTLE_RATE_SUSTAINED: rate(
    "the list of users, in the long run",
    DEFAULT_RATES.API_USERS_LIST_THROTTLE_RATE_SUSTAINED,
  ),
  FAILED_AUTHENTICATION_THROTTLE_RATE: {
    ...rateSetting,
    description:
      "Requests with a wrong token from one address in a time, beyond which they get a 429; valid tokens always pass. Empty or off for any number",
    default: FAILED_AUTHENTICATION_RATE,
  },
} as const satisfies Record<RateName | "FAILED_AUTHENTICATION_THROTTLE_RATE", RateSetting>;

/** The rates that hold. A server that only its own machine reaches has none unless they are set. */
export function throttleRates(
  parsed: Readonly<Record<keyof typeof throttleSettings, ThrottleRate | null | undefined>>,
  isPublic: boolean,
): ThrottleRates {
  const rates = (...names: readonly RateName[]): ThrottleRate[] =>
    names.flatMap((name) => {
      const set = parsed[name];
      if (set === undefined) return isPublic ? [toRate(DEFAULT_RATES[name])] : [];
      return set === null ? [] : [set];
    });
  const failures = parsed.FAILED_AUTHENTICATION_THROTTLE_RATE;
  return {
    failed_authentication: failures === null ? [] : [failures ?? toRate(FAILED_AUTHENTICATION_RATE)],
    document: rates("API_DOCUMENT_THROTTLE_RATE"),
    document_access: rates("API_DOCUMENT_ACCESS_THROTTLE_RATE"),
    invitation: rates("API_INVITATION_THROTTLE_RATE"),
    document_ask_for_access: rates("API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE"),
    config: rates("API_CONFIG_THROTTLE_RATE"),
    user_list: rates("API_USERS_LIST_THROTTLE_RATE_BURST", "API_USERS_LIST_THROTTLE_RATE_SUSTAINED"),
  };
}
