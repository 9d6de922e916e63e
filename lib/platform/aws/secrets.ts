import * as z from "zod";
import { PlatformFault } from "../faults.ts";
import { createRedactor } from "../redaction.ts";
import type { Secrets } from "../secrets.ts";

const named = z.record(z.string(), z.string());

/**
 * The secrets port over one JSON object of names and values, as the environment variable `WEFT_SECRETS` holds it;
 * none where it is not set. Throws code `secrets_unreadable` for other text, without quoting it.
 */
export function environmentSecrets(text: string | undefined): Secrets {
  const values = new Map(Object.entries(text === undefined || text === "" ? {} : read(text)));
  const redactor = createRedactor();
  redactor.add(values.values());
  return { get: async (name) => values.get(name), redact: redactor.redact };
}

function read(text: string): Record<string, string> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new PlatformFault("secrets_unreadable", "WEFT_SECRETS is not JSON");
  }
  const parsed = named.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new PlatformFault("secrets_unreadable", "WEFT_SECRETS is not an object of names and texts");
}
