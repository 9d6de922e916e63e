import { ApiError } from "../../errors.ts";
import type { Log } from "../../platform/log.ts";
import type { DocspecSettings } from "../../settings/document-config.ts";
import { fileError } from "./file-format.ts";

/** A DocSpec server, which converts Word documents to blocks. Reference 5.2. */
export interface Docspec {
  /** Why the server cannot be used, and what to do, in one sentence; undefined if it can. */
  check(): Promise<string | undefined>;
  /**
   * Converts a Word document to a list of blocks, as JSON. Throws `bad_request` if the server cannot read the file,
   * `unavailable` and `gateway_timeout` if another attempt may succeed, `bad_gateway` otherwise.
   */
  convert(bytes: Uint8Array): Promise<Uint8Array>;
}

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const BLOCKS = "application/vnd.blocknote+json";
/** The format of all errors since version 3.0.0. */
const PROBLEM = "application/problem+json";
const CHECK_MS = 5_000;
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
const ERROR_MAX_BYTES = 64 * 1024;

const TOO_OLD =
  "The conversion service of DOCSPEC_API_URL expects multipart forms, as versions before 3.0.0 do: upgrade DocSpec to 3.0.0 or newer.";
const SILENT =
  "The conversion service of DOCSPEC_API_URL does not respond: start DocSpec 3.0.0 or newer, or correct the URL.";
const UNREADABLE = "Could not convert file content: the conversion service cannot read the file.";
const TOO_LARGE = "Could not convert file content: the file is too large for the conversion service.";
/** Statuses of a server or a proxy that has a problem which passes. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export const INVALID_BLOCKS = "The conversion service responded with content that is not a list of blocks.";

interface Answer {
  readonly status: number;
  readonly isProblem: boolean;
  readonly body: Uint8Array;
}

/**
 * Why the server cannot be used; undefined if it is of version 3.0.0 or newer. It is sent an empty file: older servers
 * miss the file in a form, newer ones report the empty body in their format of errors.
 */
async function findIssue({ apiUrl }: Pick<DocspecSettings, "apiUrl">): Promise<ApiError | undefined> {
  let answer: Answer;
  try {
    answer = await post(apiUrl, new Uint8Array(), CHECK_MS);
  } catch (error) {
    return new ApiError("unavailable", SILENT, { cause: error });
  }
  const { status, isProblem } = answer;
  if (isProblem && (status === 400 || status === 422)) return undefined;
  if (status === 400 || status === 415 || status === 422) return new ApiError("bad_gateway", TOO_OLD);
  const message = `DOCSPEC_API_URL responds with ${status}: set it to the URL of DocSpec 3.0.0 or newer that ends with /conversion.`;
  return new ApiError(PASSING.has(status) ? "unavailable" : "bad_gateway", message);
}

/** Why the server cannot be used, and what to do, in one sentence; undefined if it can. */
export const checkDocspec = async (settings: Pick<DocspecSettings, "apiUrl">): Promise<string | undefined> =>
  (await findIssue(settings))?.message;

/** Opens a DocSpec server. Its version is checked by `check`, and before the first conversion. */
export function openDocspec(settings: DocspecSettings, log: Log): Docspec {
  const { apiUrl, timeoutMs } = settings;
  let isSupported = false;

  const report = (error: ApiError): ApiError => {
    log.warn("the conversion service of DOCSPEC_API_URL failed", {
      reason: error.message,
      error: error.cause,
    });
    return error;
  };

  return {
    check: () => checkDocspec(settings),
    convert: async (bytes) => {
      const issue = isSupported ? undefined : await findIssue(settings);
      isSupported = issue === undefined;
      if (issue !== undefined) throw report(issue);
      let answer: Answer;
      try {
        answer = await post(apiUrl, bytes, timeoutMs);
      } catch (error) {
        throw report(failureOf(error, timeoutMs));
      }
      const { status, isProblem, body } = answer;
      if (status >= 200 && status < 300) return body;
      if (isProblem && status === 413) throw fileError(TOO_LARGE);
      if (isProblem && (status === 400 || status === 422)) throw fileError(UNREADABLE);
      // It may have been replaced by an older one.
      isSupported = false;
      const code = PASSING.has(status) ? "unavailable" : "bad_gateway";
      throw report(new ApiError(code, `The conversion service failed with status ${status}.`));
    },
  };
}

async function post(url: string, bytes: Uint8Array, timeoutMs: number): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": DOCX, accept: BLOCKS },
    body: Buffer.from(bytes),
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const type = response.headers.get("content-type") ?? "";
  const maxBytes = response.ok ? ANSWER_MAX_BYTES : ERROR_MAX_BYTES;
  return {
    status: response.status,
    isProblem: type.split(";", 1)[0]?.trim().toLowerCase() === PROBLEM,
    body: await readCapped(response, maxBytes),
  };
}

async function readCapped({ body }: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new ApiError("bad_gateway", `The response of the conversion service exceeds ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function failureOf(error: unknown, timeoutMs: number): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && error.name === "TimeoutError")
    return new ApiError(
      "gateway_timeout",
      `The conversion service did not convert the file within ${timeoutMs / 1000} s.`,
      { cause: error },
    );
  return new ApiError("unavailable", SILENT, { cause: error });
}
