import type { Conversion } from "../../converter.ts";

/** What the server asks of the process of conversions, one after another. */
export interface ToConverter {
  readonly id: number;
  readonly conversion: Conversion;
}

/** What it tells: that it has loaded, and what became of each. */
export type FromConverter =
  | { readonly kind: "ready" }
  | { readonly kind: "converted"; readonly id: number; readonly value: string | Uint8Array }
  | { readonly kind: "refused"; readonly id: number; readonly why: string };
