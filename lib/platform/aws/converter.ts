import type { Blobs } from "../blobs.ts";
import {
  baseBlob,
  type ConversionRequest,
  type ConversionResponse,
  inputBlob,
  outputBlob,
} from "../conversions.ts";
import type { Conversion, ConversionResult, Converter } from "../converter.ts";
import { PlatformFault } from "../faults.ts";
import type { Ids } from "../ids.ts";
import type { Log } from "../log.ts";
import { openOnce } from "../open-once.ts";

/** The result of an invocation; `failed` is the function's error. */
export type InvocationResult = { readonly answer: string } | { readonly failed: string };
export type Invoke = (payload: string) => Promise<InvocationResult>;

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
  const open = openOnce(options.open);

  const ask = async (conversion: Conversion, id: string): Promise<ConversionResult> => {
    const invoke = await open();
    // The contents are blobs.
    const { bytes: _, base: _base, ...request } = { base: undefined, ...conversion };
    const invoked = await invoke(JSON.stringify({ id, ...request } satisfies ConversionRequest));
    if ("failed" in invoked) return endedBy(invoked.failed);
    const { ok } = JSON.parse(invoked.answer) as ConversionResponse;
    if (!ok) return { ok: false, reason: "refused" };
    const made = await blobs.get(outputBlob(id));
    if (made === undefined) throw new PlatformFault("unavailable", "the converted content is missing");
    return { ok: true, value: isText(conversion.to) ? Buffer.from(made).toString() : made };
  };

  return {
    convert: async (conversion) => {
      const id = ids.random();
      await blobs.put(inputBlob(id), conversion.bytes);
      if (conversion.to === "update") await blobs.put(baseBlob(id), conversion.base);
      try {
        return await ask(conversion, id);
      } finally {
        // The bucket's lifecycle rule removes what remains.
        await blobs
          .delete([inputBlob(id), ...(conversion.to === "update" ? [baseBlob(id)] : []), outputBlob(id)])
          .catch((error: unknown) => log.warn("removing the blobs of a conversion failed", { error }));
      }
    },
  };
}

const isText = (to: Conversion["to"]): boolean => to === "json" || to === "markdown" || to === "html";

function endedBy(failed: string): ConversionResult {
  if (TIMED_OUT.test(failed)) return { ok: false, reason: "timeout" };
  if (OUT_OF_MEMORY.test(failed)) return { ok: false, reason: "memory" };
  throw new PlatformFault("unavailable", `the conversion function failed: ${failed}`);
}
