import { createRedactor } from "../../redaction/redaction.ts";
import type { Clock } from "../clock.ts";
import type { Secrets } from "../secrets.ts";
import { findParameter } from "./parameters.ts";
import type { Ssm } from "./services.ts";

export interface StoredSecrets extends Secrets {
  /** Also redacts this value from now on, for secrets that workflows do not use, such as the access token. */
  alsoRedact(value: string): void;
}

/** Milliseconds that a value is cached. */
const KEPT_MS = 60_000;
/** Limits the length to that of parameter names, and excludes paths, versions and labels. */
const NAME = /^[A-Za-z0-9_.-]{1,512}$/;

interface Kept {
  readonly value: Promise<string | undefined>;
  readonly until: number;
}

/**
 * The secrets port over the parameter store: NAME is the parameter `<path>/NAME`. Values are cached for a minute;
 * missing parameters are not cached. Without a path there are no secrets. Throws PlatformFault if a later attempt may
 * succeed, and the store's own error if the role may not read the parameter.
 */
export function storedSecrets(options: {
  readonly ssm: Ssm;
  /** Starts with a slash and does not end with one. */
  readonly path: string | undefined;
  readonly clock: Pick<Clock, "now">;
}): StoredSecrets {
  const { ssm, path, clock } = options;
  const redactor = createRedactor();
  const kept = new Map<string, Kept>();

  const ask = async (name: string): Promise<string | undefined> => {
    const value = await findParameter(ssm, `${path}/${name}`);
    if (value === undefined) kept.delete(name);
    else redactor.add([value]);
    return value;
  };
  return {
    get: async (name) => {
      if (path === undefined || !NAME.test(name)) return undefined;
      const now = clock.now();
      const known = kept.get(name);
      if (known !== undefined && now < known.until) return known.value;
      const value = ask(name);
      kept.set(name, { value, until: now + KEPT_MS });
      value.catch(() => kept.delete(name));
      return value;
    },
    redact: redactor.redact,
    alsoRedact: (value) => redactor.add([value]),
  };
}
