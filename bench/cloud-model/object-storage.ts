import { LATENCY } from "./assumptions.ts";
import { throttled } from "./service-errors.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The commands of S3 that claims and small blobs need. */
export class ModelS3 {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #time: VirtualTime;
  readonly totals = { writes: 0, reads: 0 };
  readonly config = {};

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  readonly send = async (command: { readonly input: object }): Promise<unknown> => {
    const {
      Key = "",
      Body,
      IfNoneMatch,
    } = command.input as {
      readonly Key?: string;
      readonly Body?: string | Uint8Array;
      readonly IfNoneMatch?: string;
    };
    await this.#time.sleep(LATENCY.object);
    const found = this.#objects.get(Key);
    const { name } = command.constructor;
    if (name === "PutObjectCommand") {
      this.totals.writes += 1;
      if (IfNoneMatch === "*" && found !== undefined) throw throttled("PreconditionFailed", Key);
      this.#objects.set(Key, typeof Body === "string" ? Buffer.from(Body) : (Body ?? new Uint8Array()));
      return {};
    }
    if (name !== "GetObjectCommand" && name !== "HeadObjectCommand")
      throw new Error(`the model does not know ${name}`);
    this.totals.reads += 1;
    if (found === undefined) throw throttled(name === "HeadObjectCommand" ? "NotFound" : "NoSuchKey", Key);
    return {
      ContentLength: found.byteLength,
      Body: {
        transformToString: async () => Buffer.from(found).toString("utf8"),
        transformToByteArray: async () => found,
      },
    };
  };
}
