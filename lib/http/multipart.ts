import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyHeaders } from "@fastify/busboy";
import { ApiError } from "../errors.ts";
import type { MultipartBody } from "./route.ts";

/** A file of a form. */
export interface FormFile {
  /** As the client sent it. */
  readonly name: string;
  /** Throws FileTooLargeError. The caller reads it to its end, or stops. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The file is larger than its limit. */
export class FileTooLargeError extends Error {}

export interface FormOptions {
  /** The name of the field with the file. */
  readonly field: string;
  readonly maxBytes: number;
  /** Called with each field of text; longer values are cut off at 64 KiB. */
  readonly onText?: (name: string, value: string) => void;
}

/** The field of the file contains text instead. */
export class NotAFileError extends Error {}

/** Parts besides the file, and the sizes of their parts, bytes. */
const LIMITS = {
  parts: 20,
  fields: 20,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  headerPairs: 20,
  headerSize: 8 * 1024,
};

/**
 * Reads a form as a stream and passes the file of a field to `take`, whose result it returns once the whole form was
 * received. Undefined if the form has no such file, or is no form of parts. Further parts are ignored. Throws what `take`
 * throws, NotAFileError, `bad_request` for a form that is malformed or has too many parts.
 */
export async function readFormFile<Result>(
  body: MultipartBody,
  { field, maxBytes, onText }: FormOptions,
  take: (file: FormFile) => Promise<Result>,
): Promise<Result | undefined> {
  if (!/^multipart\/form-data\b/i.test(body.contentType)) return undefined;
  const parser = openParser(body.contentType, maxBytes);
  let taken: Promise<{ readonly result: Result } | { readonly failure: unknown }> | undefined;
  let current: BusboyFileStream | undefined;
  let isText = false;
  let refusal: string | undefined;
  const stop = new AbortController();
  parser.on("file", (name: string, stream: BusboyFileStream, fileName: string | undefined) => {
    stream.on("error", (error) => {
      if (!(error instanceof FileTooLargeError)) refusal ??= error.message;
    });
    if (name !== field || taken !== undefined) {
      stream.resume();
      return;
    }
    current = stream;
    stream.once("limit", () => stream.destroy(new FileTooLargeError()));
    taken = take({ name: fileName ?? "", chunks: stream }).then(
      (result) => {
        stream.resume();
        return { result };
      },
      (failure: unknown) => {
        stop.abort();
        return { failure };
      },
    );
  });
  parser.on("field", (name: string, value: string) => {
    isText ||= name === field;
    onText?.(name, value);
  });
  for (const limit of ["partsLimit", "filesLimit", "fieldsLimit"] as const)
    parser.once(limit, () => {
      refusal ??= "too many parts";
      stop.abort();
    });
  let failed: unknown;
  try {
    await pipeline(Readable.from(body.chunks, { objectMode: false }), parser, { signal: stop.signal });
  } catch (error) {
    failed = error;
    current?.destroy(new Error("The form is incomplete"));
  }
  const ended = await taken;
  // The storage of the body failed, not its format.
  if (failed !== undefined && (failed as NodeJS.ErrnoException).syscall !== undefined) throw failed;
  if (refusal !== undefined) throw malformed(refusal);
  if (ended !== undefined && "failure" in ended) throw ended.failure;
  if (failed !== undefined) throw malformed(failed instanceof Error ? failed.message : "unexpected end");
  if (ended === undefined && isText) throw new NotAFileError();
  return ended?.result;
}

function openParser(contentType: string, maxBytes: number): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": contentType } as BusboyHeaders,
      limits: { ...LIMITS, files: LIMITS.parts, fileSize: maxBytes },
    });
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : "unexpected end");
  }
}

const REASON_MAX = 200;
const malformed = (reason: string): ApiError =>
  new ApiError("bad_request", `Multipart form parse error - ${reason.slice(0, REASON_MAX)}`);
