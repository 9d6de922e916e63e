import type { Conversion } from "./converter.ts";

/** Bytes of a conversion lie among the blobs, as a call of Lambda carries 6 MB; what stays is removed after a day. */
export const CONVERSIONS_PREFIX = "conversions/";
export const CONVERSIONS_DAYS = 1;
/** Of one conversion, with what its function takes to start. */
export const CONVERSION_SECONDS = 25;

export interface ConversionRequest {
  /** Names the blobs. */
  readonly id: string;
  readonly from: Conversion["from"];
  readonly to: Conversion["to"];
  /** Whether what is made is added to another state, which is a blob too. */
  readonly isAdded?: true;
}

/** What the function answers: where it is `ok`, the other blob is there. */
export interface ConversionAnswer {
  readonly ok: boolean;
}

export const givenBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/given`;
export const ontoBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/onto`;
export const madeBlob = (id: string): string => `${CONVERSIONS_PREFIX}${id}/made`;

/** Name of the function in a stack. */
export const converterName = (stack: string): string => `${stack}-converter`;
