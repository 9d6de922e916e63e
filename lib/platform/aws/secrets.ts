import type { SSMClient } from "@aws-sdk/client-ssm";
import { createRedactor } from "../../redaction/redaction.ts";
import type { Clock } from "../clock.ts";
import type { Secrets } from "../secrets.ts";
import { findParameter } from "./parameters.ts";

export interface StoredSecrets extends Secrets {
  /** Redacts a further value from now on: one that is no secret of a workflow, such as the access token. */
  alsoRedact(value: string): void;
}

/** A value is used for so long before it is asked for again. */
const KEPT_MS = 60_000;
/** Longest names that the parameter store has, and no path, version or label among them. */
const NAME = /^[A-Za-z0-9_.-]{1,512}$/;

interface Kept {
  readonly value: Promise<string | undefined>;
  readonly until: number;
}

/**
 * The secrets port over the parameter store: NAME is the parameter `<path>/NAME`. A value is kept for a
 * minute; that there is none is asked for each time. Without a path there are no secrets. Throws PlatformFault
 * where a later try may succeed, and the store's own error where the role may not read the parameter.
 */
export function storedSecrets(options: {
  readonly client: SSMClient;
  /** Begins with a slash, ends without one. */
  readonly path: string | undefined;
  readonly clock: Pick<Clock, "now">;
}): StoredSecrets {
  const { client, path, clock } = options;
  const redactor = createRedactor();
  const kept = new Map<string, Kept>();

  const ask = async (name: string): Promise<string | undefined> => {
    const value = await findParameter(client, `${path}/${name}`);
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
