import type { Conversion } from "./converter.ts";

/** Key prefix of a conversion's input and output: a Lambda payload is limited to 6 MB. Leftovers expire after a day. */
export const CONVERSIONS_PREFIX = "conversions/";
export const CONVERSIONS_DAYS = 1;
/** Timeout of one conversion, including the start of its function. */
export const CONVERSION_SECONDS = 25;

export interface ConversionRequest {
  /** Identifies the blobs. */
  readonly id: string;
  readonly from: Conversion["from"];
  readonly to: Conversion["to"];
  /** Of an update: whether it appends. The state that it changes is a blob, too. */
  readonly append?: boolean;
  /** Of an imported page. */
  readonly title?: string;
  /** Of a state whose URLs are replaced. */
  readonly urls?: Readonly<Record<string, string>>;
}

/** The function's response. If it is `ok`, the output blob exists. */
export interface ConversionResponse {
  readonly ok: boolean;
  /** Why the conversion has no result, for users. */
  readonly message?: string;
}

export const inputBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/given`;
export const baseBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/base`;
export const outputBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/made`;

/** Name of the converter function in a stack. */
export const converterName = (stack: string): string => `${stack}-converter`;
