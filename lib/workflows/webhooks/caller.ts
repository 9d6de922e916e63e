import { createHmac } from "node:crypto";
import { parseDuration } from "../../durations.ts";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isSameText, sign } from "../installation/signing.ts";
import type { WebhookTrigger } from "../schema/types.ts";

/** The parts of a request that authenticate the caller. */
export interface WebhookCall {
  /** The raw body; empty for GET. */
  readonly body: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key?: string | undefined;
  /** GET requests cannot be signed. */
  readonly method: "GET" | "POST";
}

const DEFAULT_TOLERANCE_MS = 5 * 60_000;
/** Time for which the signature of a body without a timestamp is rejected as a replay, milliseconds. */
const BODY_ONCE_MS = 24 * 3_600_000;
const TEXT_MAX_LENGTH = 512;
const SECONDS = /^\d{1,12}$/;

/** A signature that is rejected as a replay for a time. */
export interface Proof {
  readonly signature: string;
  readonly onceForMs: number;
}

/** The secret of a webhook; derived, not stored. */
export const webhookSecret = (deps: Pick<Ports, "tables" | "clock">, webhookId: string): Promise<string> =>
  sign(deps, `webhook ${webhookId}`);

/**
 * Authenticates the caller with the webhook's secret: `key` sends it (`?key=`, `X-Weft-Key` or a bearer token), `hmac`
 * signs time and body with it (`X-Weft-Timestamp`, seconds; `X-Weft-Signature`, `sha256=` and hex of HMAC-SHA256 over
 * `<time>.<body>`), `hmac-body` signs only the body (`X-Hub-Signature-256`, as GitHub does). Throws `unauthorized`.
 */
export async function proveCaller(
  deps: Pick<Ports, "tables" | "clock">,
  webhookId: string,
  trigger: WebhookTrigger,
  call: WebhookCall,
): Promise<Proof | undefined> {
  if (trigger.auth === "none") return undefined;
  const secret = await webhookSecret(deps, webhookId);
  if (trigger.auth === "key") {
    if (!isSameText(sentKey(call), secret)) throw refused("key: is missing or invalid");
    return undefined;
  }
  if (call.method === "GET") throw refused("a signature requires POST");
  if (trigger.auth === "hmac-body") {
    const signature = checkSignature(call, "x-hub-signature-256", secret, call.body);
    return { signature, onceForMs: BODY_ONCE_MS };
  }
  const toleranceMs = parseDuration(trigger.tolerance ?? "") ?? DEFAULT_TOLERANCE_MS;
  const timestamp = shortened(call.headers["x-weft-timestamp"]);
  const signature = checkSignature(call, "x-weft-signature", secret, `${timestamp}.${call.body}`);
  const age = Math.abs(deps.clock.now() - Number(timestamp) * 1_000);
  if (!SECONDS.test(timestamp) || age > toleranceMs)
    throw refused("x-weft-timestamp: must be the current time in seconds");
  // Twice the tolerance, since the request's time may be ahead by the tolerance.
  return { signature, onceForMs: 2 * toleranceMs };
}

function checkSignature(call: WebhookCall, header: string, secret: string, text: string): string {
  const expected = `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
  if (!isSameText(shortened(call.headers[header]).toLowerCase(), expected))
    throw refused(`${header}: is missing or invalid`);
  return expected;
}

function sentKey({ key, headers }: WebhookCall): string {
  const bearer = /^bearer +(\S+) *$/i.exec(shortened(headers["authorization"]))?.[1];
  return shortened(key ?? headers["x-weft-key"] ?? bearer);
}

const shortened = (text: string | undefined): string => (text ?? "").slice(0, TEXT_MAX_LENGTH);

const refused = (message: string): ApiError => new ApiError("unauthorized", message);
