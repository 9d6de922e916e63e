import type { Schemas } from "../../client/api.ts";

/** A webhook with its address and its secret. */
export type Webhook = Schemas["Webhook"];

const encoder = new TextEncoder();

/** A request to a webhook that its service accepts. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The request with this body, authenticated with the secret as the webhook demands. */
export async function webhookRequest(
  { url: path, auth, secret }: Webhook,
  body: string,
  now: number,
): Promise<WebhookRequest> {
  const url = location.origin + path;
  const headers = { "content-type": "application/json" };
  if (auth === "none") return { url, headers, body };
  if (auth === "key") return { url, headers: { ...headers, "x-weft-key": secret }, body };
  if (auth === "hmac-body")
    return {
      url,
      headers: { ...headers, "x-hub-signature-256": await signature(secret, body) },
      body,
    };
  const time = String(Math.floor(now / 1_000));
  return {
    url,
    headers: {
      ...headers,
      "x-weft-timestamp": time,
      "x-weft-signature": await signature(secret, `${time}.${body}`),
    },
    body,
  };
}

async function signature(secret: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
  return `sha256=${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** A curl command that calls a webhook. A signature is computed by the shell, because it is valid once. */
export function webhookCommand({ url, auth, secret }: Webhook, origin: string, body: string): string {
  const call = `curl -s '${origin}${url}' -H 'content-type: application/json'`;
  const data = `-d ${quote(body)}`;
  if (auth === "none") return `${call} ${data}`;
  if (auth === "key") return `${call} -H 'x-weft-key: ${secret}' ${data}`;
  const hmac = `openssl dgst -sha256 -hmac '${secret}' -r | cut -d ' ' -f 1`;
  if (auth === "hmac-body")
    return `BODY=${quote(body)}; ${call} -H "x-hub-signature-256: sha256=$(printf %s "$BODY" | ${hmac})" -d "$BODY"`;
  return `BODY=${quote(body)}; TIME=$(date +%s); ${call} -H "x-weft-timestamp: $TIME" -H "x-weft-signature: sha256=$(printf %s "$TIME.$BODY" | ${hmac})" -d "$BODY"`;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
