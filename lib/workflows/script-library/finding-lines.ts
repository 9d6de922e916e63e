import { hasControlInText } from "../../events/control-characters.ts";
import { assetValue } from "../assets/asset-fields.ts";
import { isRecord } from "./argument-values.ts";

/** Formats of findings files: each line is one finding. */
export const LINE_FORMATS = ["httpx", "nuclei", "jsonl", "plain"] as const;
export type LineFormat = (typeof LINE_FORMATS)[number];

/** The content of a line; `fault` if it is invalid. */
export type ReadLine =
  | {
      readonly asset?: Readonly<Record<string, unknown>>;
      readonly vulnerability?: Readonly<Record<string, unknown>>;
    }
  | { readonly fault: string };

/** Fields of httpx that describe the asset; bodies and headers are omitted. */
const HTTPX_FIELDS = [
  "url",
  "input",
  "scheme",
  "method",
  "path",
  "status_code",
  "content_type",
  "content_length",
  "title",
  "words",
  "lines",
  "tech",
  "time",
  "location",
  "webserver",
  "port",
  "host",
  "host_ip",
  "cname",
  "tls",
  "remarks",
  "source",
  "asset_type",
] as const;
/** Maximum length of the raw finding that is stored with its fields, characters. */
const RAW_MAX_LENGTH = 15_000;
const ADDRESS = /^(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f:]*:[0-9a-f:]+)$/i;

/** Determines the format of a file from its first line that is not blank. */
export function detectFormat(line: string): LineFormat {
  if (!line.trimStart().startsWith("{")) return "plain";
  const found = jsonOf(line);
  if (found === undefined) return "jsonl";
  if (("template-id" in found || "template_id" in found) && isRecord(found.info)) return "nuclei";
  return typeof found.url === "string" && ("status_code" in found || "input" in found || "tech" in found)
    ? "httpx"
    : "jsonl";
}

/** Parses one line; undefined for a blank line, and for a comment in a plain list. */
export function readFinding(line: string, format: LineFormat): ReadLine | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (format === "plain") {
    if (text.startsWith("#")) return undefined;
    return assetValue({ value: text }) === undefined
      ? { fault: "the value is too long or has control characters" }
      : { asset: { asset_value: text } };
  }
  const found = jsonOf(text);
  if (found === undefined) return { fault: "must be a JSON object" };
  if (format === "nuclei") return readNuclei(found, text);
  if (found.failed === true) return { fault: "the probe failed" };
  const asset = format === "httpx" ? fromHttpx(found) : found;
  return assetValue(asset) === undefined ? { fault: "no asset field" } : { asset };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fromHttpx(found: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const asset: Record<string, unknown> = {};
  for (const name of HTTPX_FIELDS) if (Object.hasOwn(found, name)) asset[name] = found[name];
  const { host, a, cdn } = found;
  if (typeof asset.host_ip !== "string" && typeof host === "string" && ADDRESS.test(host))
    asset.host_ip = host;
  if (Array.isArray(a)) asset.dns_records = a;
  if (typeof cdn === "boolean") asset.is_cdn = cdn;
  return asset;
}

/** A finding and its host. */
function readNuclei(found: Readonly<Record<string, unknown>>, raw: string): ReadLine {
  const info = isRecord(found.info) ? found.info : {};
  const template = text(found["template-id"]) || text(found.template_id);
  const title = text(info.name) || template;
  if (title === "") return { fault: "no finding field" };
  if (hasControlInText(title)) return { fault: "the name has control characters" };
  const host = text(found.host);
  const matcher = text(found["matcher-name"]) || text(found.matcher_name);
  const { tags } = info;
  const vulnerability = {
    vuln_info: matcher === "" ? template : `${template}:${matcher}`,
    vuln_title: title,
    vuln_desc: text(info.description),
    vuln_poc: text(found["curl-command"]) || text(found.curl_command),
    severity: text(info.severity) || "info",
    confidence: "Firm",
    asset_type: text(found.type),
    asset_value: text(found["matched-at"]) || text(found.matched_at) || host,
    tags: typeof tags === "string" ? tags.split(",").map((tag) => tag.trim()) : tags,
    detail_http_request: text(found.request).slice(0, RAW_MAX_LENGTH),
    detail_http_response: text(found.response).slice(0, RAW_MAX_LENGTH),
    ...(raw.length <= RAW_MAX_LENGTH ? { raw_vuln_json: raw } : {}),
  };
  const asset =
    assetValue({ host }) === undefined ? undefined : { asset_value: host, host_ip: text(found.ip) };
  return asset === undefined ? { vulnerability } : { asset, vulnerability };
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
