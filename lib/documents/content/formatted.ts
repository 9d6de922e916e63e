import { ApiError } from "../../errors.ts";
import type { ConversionResult, Converter, ShownFormat } from "../../platform/converter.ts";
import { authorize, type Viewer } from "../authorization/document-access.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { type ContentDeps, readCurrentContent } from "./read.ts";

export type FormattedDeps = ContentDeps & { readonly converter?: Converter };

const FORMATS: readonly ShownFormat[] = ["json", "markdown", "html"];

/** A document and its content as JSON text: a list of blocks, or a string of markdown or HTML. */
export interface Formatted {
  readonly document: StoredDocument;
  readonly content: string;
}

/**
 * Converts a document's content to a display format; null if none was ever saved. Throws `bad_request` for an unknown
 * format or content that cannot be converted, `unavailable` if this installation has no converter, `internal`,
 * `not_found`, `unauthorized`, `forbidden`. Seed: documents 4; reference 1.5.
 */
export async function formatContent(
  deps: FormattedDeps,
  viewer: Viewer,
  id: string,
  asked: string,
): Promise<Formatted> {
  const { document } = await authorize(deps, viewer, id, "formatted_content");
  const to = FORMATS.find((format) => format === asked.toLowerCase());
  if (to === undefined) throw noFormat(asked);
  const current = await readCurrentContent(deps, document);
  if (current === undefined) return { document, content: "null" };
  if (deps.converter === undefined)
    throw new ApiError(
      "unavailable",
      "This installation cannot convert content. Run the conversion service on a server",
    );
  const { bytes, kind } = current;
  const converted = await deps.converter.convert({ from: kind, bytes, to }).catch(failed);
  if (!converted.ok) throw refused(converted.reason);
  const text = String(converted.value);
  return { document, content: to === "json" ? text : JSON.stringify(text) };
}

function noFormat(asked: string): ApiError {
  const message = `"${asked.slice(0, 100)}" is not a supported format; use one of ${FORMATS.join(", ")}.`;
  return new ApiError("bad_request", message, { body: [message] });
}

const REFUSED: Readonly<Record<Exclude<ConversionResult, { readonly ok: true }>["reason"], string>> = {
  refused: "The content cannot be converted.",
  timeout: "The content takes too long to convert.",
  memory: "The content takes too much memory to convert.",
};

function refused(reason: keyof typeof REFUSED): ApiError {
  const error = REFUSED[reason];
  return new ApiError("bad_request", error, { body: { error } });
}

function failed(cause: unknown): never {
  if ((cause as { code?: unknown } | null)?.code === "throttled") throw cause;
  const error = "Failed to get document content";
  throw new ApiError("internal", error, { cause, body: { error } });
}
