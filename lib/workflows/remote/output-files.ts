import { type FileHandle, open } from "node:fs/promises";
import type { Readable } from "node:stream";

export type OutputKind = "stdout" | "stderr";

/** The files that receive the output of a command; memory holds one chunk at a time. */
export class OutputFiles {
  readonly #files: Readonly<Record<OutputKind, FileHandle>>;

  private constructor(stdout: FileHandle, stderr: FileHandle) {
    this.#files = { stdout, stderr };
  }

  /** Replaces the files. */
  static async open(stdoutPath: string, stderrPath: string): Promise<OutputFiles> {
    const stdout = await open(stdoutPath, "w", 0o600);
    try {
      return new OutputFiles(stdout, await open(stderrPath, "w", 0o600));
    } catch (error) {
      await stdout.close();
      throw error;
    }
  }

  /** Resolves when the next chunk of that kind may be written. */
  async write(kind: OutputKind, chunk: Uint8Array): Promise<void> {
    await this.#files[kind].appendFile(chunk);
  }

  async close(): Promise<{ stdoutBytes: number; stderrBytes: number }> {
    const { stdout, stderr } = this.#files;
    try {
      return { stdoutBytes: (await stdout.stat()).size, stderrBytes: (await stderr.stat()).size };
    } finally {
      await Promise.all([stdout.close(), stderr.close()]);
    }
  }
}

/** Passes a stream on chunk by chunk; resolves after the stream has ended and every chunk was processed. */
export function pump(source: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = Promise.resolve();
    const finish = (): void => void last.then(resolve, reject);
    source.on("data", (chunk: Buffer) => {
      source.pause();
      last = last.then(() => take(chunk));
      last.then(() => source.resume(), reject);
    });
    source.once("end", finish);
    source.once("close", finish);
    source.once("error", reject);
  });
}
