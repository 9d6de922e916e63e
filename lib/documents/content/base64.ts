import { CONTENT_MAX_BYTES } from "../tables/versions.ts";

/** Characters decoded per step: whole groups of four. */
const PIECE_CHARS = 64 * 1024;
const GROUP_CHARS = 4;
const GROUP_BYTES = 3;

/**
 * Decodes strict base64 in pieces into one buffer. The result is `none` if the text is not canonical base64,
 * `too_large` if the bytes exceed the content limit.
 */
export class Base64Content {
  readonly #bytes: Buffer;
  #length = 0;
  /** Characters of a group that continues in the next piece. */
  #open = "";
  #ended = false;
  #fault: "none" | "too_large" | undefined;

  /** `chars`: maximum length of the text. */
  constructor(chars: number) {
    const most = Math.min(chars, (CONTENT_MAX_BYTES / GROUP_BYTES) * GROUP_CHARS);
    this.#bytes = Buffer.allocUnsafeSlow((Math.ceil(most / GROUP_CHARS) + 1) * GROUP_BYTES);
  }

  write(text: Uint8Array): void {
    for (let at = 0; at < text.length && this.#fault === undefined; at += PIECE_CHARS) {
      const piece = Buffer.from(text.buffer, text.byteOffset + at, Math.min(PIECE_CHARS, text.length - at));
      const chars = this.#open + piece.toString("latin1");
      const whole = chars.length - (chars.length % GROUP_CHARS);
      this.#open = chars.slice(whole);
      this.#decode(chars.slice(0, whole));
    }
  }

  /** Returns all decoded bytes. */
  end(): Uint8Array | "none" | "too_large" {
    if (this.#fault !== undefined) return this.#fault;
    return this.#open === "" ? this.#bytes.subarray(0, this.#length) : "none";
  }

  #decode(chars: string): void {
    if (chars === "") return;
    const start = this.#length;
    if (start + (chars.length / GROUP_CHARS) * GROUP_BYTES > this.#bytes.length) {
      this.#fault = "too_large";
      return;
    }
    this.#length += this.#bytes.write(chars, start, "base64");
    // Node ignores invalid characters, so the text is valid only if re-encoding gives it back.
    const same = !this.#ended && this.#bytes.toString("base64", start, this.#length) === chars;
    this.#ended = chars.endsWith("=");
    if (!same) this.#fault = "none";
    else if (this.#length > CONTENT_MAX_BYTES) this.#fault = "too_large";
  }
}

/** Encodes a stream of bytes as base64 text. */
export async function* base64Of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let open: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const bytes =
      open.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([open, chunk]);
    const whole = bytes.length - (bytes.length % GROUP_BYTES);
    open = Uint8Array.from(bytes.subarray(whole));
    if (whole > 0) yield bytes.toString("base64", 0, whole);
  }
  if (open.length > 0) yield Buffer.from(open).toString("base64");
}

/** Length of the base64 text of a number of bytes. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / GROUP_BYTES) * GROUP_CHARS;
