import type { OutputFiles } from "./output-files.ts";

/** Kind of stream, three empty bytes, length of what follows. Source: Docker Engine API, "Stream format". */
const HEADER_BYTES = 8;
const STDERR = 2;

/** Takes apart the one stream in which an engine sends standard output and standard error. */
export class DockerOutput {
  readonly #output: Pick<OutputFiles, "write">;
  #header = Buffer.alloc(0);
  #kind: "stdout" | "stderr" = "stdout";
  #left = 0;

  constructor(output: Pick<OutputFiles, "write">) {
    this.#output = output;
  }

  async take(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const part = chunk.subarray(at, at + HEADER_BYTES - this.#header.length);
        at += part.length;
        this.#header = Buffer.concat([this.#header, part]);
        if (this.#header.length < HEADER_BYTES) return;
        this.#kind = this.#header[0] === STDERR ? "stderr" : "stdout";
        this.#left = this.#header.readUInt32BE(4);
        this.#header = Buffer.alloc(0);
      } else {
        const part = chunk.subarray(at, at + this.#left);
        at += part.length;
        this.#left -= part.length;
        await this.#output.write(this.#kind, part);
      }
    }
  }
}
