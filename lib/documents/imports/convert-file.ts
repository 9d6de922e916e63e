import { decodePage, type ImportedPage } from "../../conversion/imported-page.ts";
import { ApiError } from "../../errors.ts";
import type { Conversion, Converter } from "../../platform/converter.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import { type FileFormat, fileError } from "./file-format.ts";

export interface ConvertDeps {
  readonly converter?: Converter;
}

const FAILURES = {
  refused: "Could not convert file content",
  timeout: "Could not convert file content: it takes too long.",
  memory: "Could not convert file content: it takes too much memory.",
} as const;

/** Converts content to a Yjs state or a page. Throws `bad_request` if it cannot be, `unavailable` without a converter. */
export async function convertTo({ converter }: ConvertDeps, conversion: Conversion): Promise<Uint8Array> {
  if (converter === undefined)
    throw new ApiError(
      "unavailable",
      "This installation cannot convert content. Run the conversion service on a server",
    );
  const outcome = await converter.convert(conversion);
  if (!outcome.ok) throw fileError(FAILURES[outcome.reason]);
  if (typeof outcome.value === "string") throw new TypeError("the converter returned text");
  return outcome.value;
}

/** Converts a file to the content of a document. `title` as in `Conversion`. Throws `bad_request`, `unavailable`. */
export async function convertFile(
  deps: ConvertDeps,
  format: Exclude<FileFormat, "zip">,
  bytes: Uint8Array,
  title?: string,
): Promise<ImportedPage> {
  const named = title === undefined ? {} : { title };
  const page = decodePage(await convertTo(deps, { from: format, bytes, to: "page", ...named }));
  if (page.state.length > CONTENT_MAX_BYTES) throw fileError(FAILURES.refused);
  return page;
}
