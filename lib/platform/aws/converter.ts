import type { Blobs } from "../blobs.ts";
import {
  baseBlob,
  type ConversionRequest,
  type ConversionResponse,
  inputBlob,
  outputBlob,
} from "../conversions.ts";
import type { Conversion, Converter } from "../converter.ts";
import type { Ids } from "../ids.ts";
import type { Log } from "../log.ts";
import { callIsolated, type Invoke } from "./isolated-function.ts";

/** The converter port over a separate function. */
export function awsConverter(options: {
  readonly blobs: Blobs;
  readonly ids: Pick<Ids, "random">;
  readonly log: Log;
  readonly invoke: Invoke;
}): Converter {
  return {
    convert: async (conversion) => {
      const id = options.ids.random();
      // The contents are blobs.
      const { bytes, base, ...request } = { base: undefined, ...conversion };
      const converted = await callIsolated<ConversionResponse>(options, {
        inputs: new Map([
          [inputBlob(id), bytes],
          ...(base === undefined ? [] : [[baseBlob(id), base] as const]),
        ]),
        output: outputBlob(id),
        request: { id, ...request } satisfies ConversionRequest,
      });
      if (!converted.ok) return converted;
      const { value } = converted;
      return { ok: true, value: isText(conversion.to) ? Buffer.from(value).toString() : value };
    },
  };
}

const isText = (to: Conversion["to"]): boolean => to === "json" || to === "markdown" || to === "html";
