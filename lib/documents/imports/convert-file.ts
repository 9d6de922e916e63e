import { OFFICE_LIMITS } from "../../archives/office-limits.ts";
import { ArchiveError, openZip } from "../../archives/read-zip.ts";
import { decodePage, type ImportedPage } from "../../conversion/imported-page.ts";
import { ApiError } from "../../errors.ts";
import type { Conversion, ConversionResult, Converter } from "../../platform/converter.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import { type Docspec, INVALID_BLOCKS } from "./docspec.ts";
import { type FileFormat, fileError } from "./file-format.ts";

export interface ConvertDeps {
  readonly converter?: Converter;
  /** Converts Word documents, if DOCSPEC_API_URL is set. */
  readonly docspec?: Docspec;
}

const FAILURES = {
  refused: "Could not convert file content",
  timeout: "Could not convert file content: it takes too long.",
  memory: "Could not convert file content: it takes too much memory.",
} as const;

const failureOf = (
  { reason, message }: Extract<ConversionResult, { ok: false }>,
  refused: ApiError,
): ApiError => {
  if (reason !== "refused") return fileError(FAILURES[reason]);
  return message === undefined ? refused : fileError(`${FAILURES.refused}. ${message}`);
};

/** Converts content to a Yjs state or a page. Throws `bad_request` if it cannot be, `unavailable` without a converter. */
export async function convertTo(
  { converter }: ConvertDeps,
  conversion: Conversion,
  refused = fileError(FAILURES.refused),
): Promise<Uint8Array> {
  if (converter === undefined)
    throw new ApiError(
      "unavailable",
      "This installation cannot convert content. Run the conversion service on a server",
    );
  const outcome = await converter.convert(conversion, { isBackground: true });
  if (!outcome.ok) throw failureOf(outcome, refused);
  if (typeof outcome.value === "string") throw new TypeError("the converter returned text");
  return outcome.value;
}

/**
 * Converts a file to the content of a document. `title` as in `Conversion`. Throws `bad_request`, `unavailable`, and for
 * Word documents as `Docspec`.
 */
export async function convertFile(
  deps: ConvertDeps,
  format: Exclude<FileFormat, "zip">,
  bytes: Uint8Array,
  title?: string,
): Promise<ImportedPage> {
  const named = title === undefined ? {} : { title };
  const page = decodePage(
    format === "docx" && deps.docspec !== undefined
      ? await convertByDocspec(deps, deps.docspec, bytes)
      : await convertTo(deps, { from: format, bytes, to: "page", ...named }),
  );
  if (page.state.length > CONTENT_MAX_BYTES) throw fileError(FAILURES.refused);
  return page;
}

async function convertByDocspec(deps: ConvertDeps, docspec: Docspec, bytes: Uint8Array): Promise<Uint8Array> {
  await checkSizes(bytes);
  const blocks = await docspec.convert(bytes);
  return convertTo(
    deps,
    { from: "blocks", bytes: blocks, to: "page" },
    new ApiError("bad_gateway", INVALID_BLOCKS),
  );
}

/** Throws `bad_request` for an archive that unpacks to more than the built-in converter accepts. */
async function checkSizes(bytes: Uint8Array): Promise<void> {
  try {
    const zip = await openZip(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), OFFICE_LIMITS);
    zip.close();
  } catch (error) {
    throw error instanceof ArchiveError ? fileError(error.message) : error;
  }
}
