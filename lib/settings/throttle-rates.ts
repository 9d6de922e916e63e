import type { Setting, SettingType } from "./setting-types.ts";

export interface ThrottleRate {
  readonly count: number;
  readonly periodMs: number;
}

/** The routes of a scope share the requests that a caller has left. Reference 1.1. */
export type ThrottleScope =
  | "document"
  | "document_updates"
  | "document_access"
  | "invitation"
  | "document_ask_for_access"
  | "config"
  | "user_list"
  | "login"
  | "failed_authentication";

/** A request must satisfy every rate of its scope; a scope without rates is unlimited. */
export type ThrottleRates = Readonly<Record<ThrottleScope, readonly ThrottleRate[]>>;

const PERIODS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
};
const RATE = /^([1-9]\d{0,17})\/(s|sec|second|m|min|minute|h|hour|d|day)$/;

/** The value is a list so that it can be empty: unlimited. */
export const throttleRate: SettingType<readonly ThrottleRate[]> = {
  parse: (text) => {
    if (text === "" || text === "off") return [];
    const [, count = "", unit = ""] = RATE.exec(text) ?? [];
    if (count === "")
      throw new Error("must be off or a rate such as 80/minute, per second, minute, hour or day");
    return [{ count: Number(count), periodMs: PERIODS_MS[unit.charAt(0)] ?? 0 }];
  },
};

const LISTED_COUNT_MAX = 10_000;
const LISTED_RATES_MAX = 10;

/** Rates that all apply, separated by commas. Counted in a table: one row contains the times of all requests. */
export const throttleRateList: SettingType<readonly ThrottleRate[]> = {
  parse: (text) => {
    const rates = text === "off" ? [] : text.split(",").flatMap((rate) => throttleRate.parse(rate.trim()));
    if (rates.length > LISTED_RATES_MAX || rates.some(({ count }) => count > LISTED_COUNT_MAX))
      throw new Error(`must be at most ${LISTED_RATES_MAX} rates of at most ${LISTED_COUNT_MAX} requests`);
    return rates;
  },
};

/** Defaults of a server that other machines can reach. Reference 1.1. */
const DEFAULT_RATES = {
  API_DOCUMENT_THROTTLE_RATE: "80/minute",
  API_DOCUMENT_UPDATES_THROTTLE_RATE: "1200/minute",
  API_DOCUMENT_ACCESS_THROTTLE_RATE: "50/minute",
  API_INVITATION_THROTTLE_RATE: "60/minute",
  API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE: "30/minute",
  API_CONFIG_THROTTLE_RATE: "30/minute",
  API_USERS_LIST_THROTTLE_RATE_BURST: "30/minute",
  API_USERS_LIST_THROTTLE_RATE_SUSTAINED: "180/hour",
  LOGIN_THROTTLE_RATE: "600/minute",
} as const;
type RateName = keyof typeof DEFAULT_RATES;

/** The row of a rate whose default depends on who can reach the server. */
export const throttleSetting = (name: RateName, resource: string) =>
  ({
    type: throttleRate,
    acceptsEmpty: true,
    documentedDefault: `${DEFAULT_RATES[name]} on AWS or if HOST is not a loopback address; otherwise off`,
    description: `Rate limit for requests of one caller to ${resource}; empty or off for no limit`,
  }) satisfies Setting;

type Rates = readonly ThrottleRate[];

/** A server that only its own machine can reach has no rates by default. */
export function throttleRates(
  values: Readonly<Record<RateName, Rates | undefined>> & {
    readonly FAILED_AUTHENTICATION_THROTTLE_RATE: Rates;
  },
  isReachable: boolean,
): ThrottleRates {
  const rates = (name: RateName): Rates =>
    values[name] ?? (isReachable ? throttleRate.parse(DEFAULT_RATES[name]) : []);
  return {
    failed_authentication: values.FAILED_AUTHENTICATION_THROTTLE_RATE,
    document: rates("API_DOCUMENT_THROTTLE_RATE"),
    document_updates: rates("API_DOCUMENT_UPDATES_THROTTLE_RATE"),
    document_access: rates("API_DOCUMENT_ACCESS_THROTTLE_RATE"),
    invitation: rates("API_INVITATION_THROTTLE_RATE"),
    document_ask_for_access: rates("API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE"),
    config: rates("API_CONFIG_THROTTLE_RATE"),
    login: rates("LOGIN_THROTTLE_RATE"),
    user_list: [
      ...rates("API_USERS_LIST_THROTTLE_RATE_BURST"),
      ...rates("API_USERS_LIST_THROTTLE_RATE_SUSTAINED"),
    ],
  };
}
