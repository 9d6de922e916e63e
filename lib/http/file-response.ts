import type { StatusCode } from "./response.ts";

/** A streamed response. Browsers save a file with a name and do not display it. */
export interface FileResponse {
  /** Content type, with its parameters. */
  readonly type: string;
  /** The file name for `Content-Disposition`; any text. */
  readonly name?: string;
  /** Browsers may display the file although it has a name. */
  readonly isInline?: boolean;
  /** The route's own if undefined; 304 has no content. */
  readonly status?: StatusCode;
  /** Further headers; undefined ones are not sent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly content: AsyncIterable<Uint8Array | string>;
}

/** The content of a response to HEAD, or with status 304 or 416. */
export async function* noContent(): AsyncGenerator<Uint8Array> {}

/** Longest name of a file in a header, characters. */
const NAME_MAX_LENGTH = 200;

/** Headers of a file. The name is encoded, so that it cannot add parameters or headers: RFC 6266, RFC 8187. */
export function fileHeaders({
  type,
  name,
  isInline,
  headers,
}: FileResponse): Record<string, string | undefined> {
  const own = { "content-security-policy": "sandbox", ...headers, "content-type": type };
  return name === undefined ? own : { "content-disposition": dispositionOf(name, isInline), ...own };
}

/** The header that names a file, and says whether browsers may display it. */
export function dispositionOf(name: string, isInline = false): string {
  const short = name.slice(-NAME_MAX_LENGTH).toWellFormed();
  const plain = short.replaceAll(/[^\w.+@=-]/g, "_");
  const encoded = encodeURIComponent(short).replaceAll(/['()*]/g, (character) =>
    `%${character.charCodeAt(0).toString(16)}`.toUpperCase(),
  );
  return `${isInline ? "inline" : "attachment"}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
