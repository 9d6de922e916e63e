import type { Conversion } from "../../converter.ts";

/** Messages of the server to the conversion process, handled one at a time. */
export interface ToConverter {
  readonly id: number;
  readonly conversion: Conversion;
}

/** Messages of the conversion process: that it has loaded, and the outcome of each conversion. */
export type FromConverter =
  | { readonly kind: "ready" }
  | { readonly kind: "converted"; readonly id: number; readonly value: string | Uint8Array }
  | { readonly kind: "refused"; readonly id: number; readonly why: string };
