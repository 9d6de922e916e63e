import { createHash, createHmac } from "node:crypto";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of credentials that end, as those of a role. */
  readonly sessionToken?: string;
}

export interface SignedRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** Names in lower case; all of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly region: string;
  readonly service: string;
  readonly credentials: Credentials;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const keyed = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** The headers of a request with AWS's signature, version 4, among them. The path must need no encoding. */
export function signedHeaders(request: SignedRequest): Record<string, string> {
  const { credentials, url, region, service } = request;
  const time = new Date(request.at).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-date": time,
    ...(credentials.sessionToken === undefined ? {} : { "x-amz-security-token": credentials.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const signed = names.join(";");
  const canonical = [
    request.method,
    url.pathname,
    [...url.searchParams]
      .map((pair) => pair.map(encodeURIComponent).join("="))
      .sort()
      .join("&"),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    "",
    signed,
    hash(request.body),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    keyed,
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = keyed(key, [ALGORITHM, time, scope, hash(canonical)].join("\n")).toString("hex");
  return {
    ...headers,
    authorization: `${ALGORITHM} Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}
