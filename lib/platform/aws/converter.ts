import type { Blobs } from "../blobs.ts";
import {
  type ConversionAnswer,
  type ConversionRequest,
  givenBlob,
  madeBlob,
  ontoBlob,
} from "../conversions.ts";
import type { Conversion, Converted, Converter } from "../converter.ts";
import { PlatformFault } from "../faults.ts";
import type { Ids } from "../ids.ts";
import type { Log } from "../log.ts";
import { openedOnce } from "../opened-once.ts";

/** The result of an invocation; `failed` is the function's error. */
export type Invoked = { readonly answer: string } | { readonly failed: string };
export type Invoke = (payload: string) => Promise<Invoked>;

/** Lambda's error messages for a function that it ended. */
const TIMED_OUT = /timed out/i;
const OUT_OF_MEMORY = /signal: killed|heap out of memory|OutOfMemory/i;

/**
 * The converter port over a separate function that reads and writes only blobs of conversions, so that untrusted
 * content is parsed only there. `open` is called with the first conversion, and again after a failure.
 */
export function awsConverter(options: {
  readonly blobs: Blobs;
  readonly ids: Pick<Ids, "random">;
  readonly log: Log;
  readonly open: () => Promise<Invoke>;
}): Converter {
  const { blobs, ids, log } = options;
  const open = openedOnce(options.open);

  const ask = async (conversion: Conversion, id: string): Promise<Converted> => {
    const invoke = await open();
    const { from, to } = conversion;
    const added = ontoOf(conversion) === undefined ? {} : { isAdded: true as const };
    const invoked = await invoke(JSON.stringify({ id, from, to, ...added } satisfies ConversionRequest));
    if ("failed" in invoked) return endedBy(invoked.failed);
    const { ok } = JSON.parse(invoked.answer) as ConversionAnswer;
    if (!ok) return { ok: false, reason: "refused" };
    const made = await blobs.get(madeBlob(id));
    if (made === undefined) throw new PlatformFault("unavailable", "what was converted is gone");
    return { ok: true, value: to === "yjs" ? made : Buffer.from(made).toString() };
  };

  return {
    convert: async (conversion) => {
      const id = ids.random();
      const onto = ontoOf(conversion);
      await blobs.put(givenBlob(id), conversion.bytes);
      if (onto !== undefined) await blobs.put(ontoBlob(id), onto);
      try {
        return await ask(conversion, id);
      } finally {
        // The bucket's lifecycle rule removes what remains.
        await blobs
          .delete([givenBlob(id), ...(onto === undefined ? [] : [ontoBlob(id)]), madeBlob(id)])
          .catch((error: unknown) => log.warn("blobs of a conversion were not removed", { error }));
      }
    },
  };
}

const ontoOf = (conversion: Conversion): Uint8Array | undefined =>
  conversion.to === "yjs" ? conversion.onto : undefined;

function endedBy(failed: string): Converted {
  if (TIMED_OUT.test(failed)) return { ok: false, reason: "timeout" };
  if (OUT_OF_MEMORY.test(failed)) return { ok: false, reason: "memory" };
  throw new PlatformFault("unavailable", `the function of conversions ended: ${failed}`);
}
