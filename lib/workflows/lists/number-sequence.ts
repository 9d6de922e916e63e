import type { Ports } from "../../platform/ports.ts";
import { countersTable } from "./table.ts";

/** Numbers taken from a counter at once; numbers unused at a stop are skipped. */
const BLOCK = 50;

export interface NumberSequence {
  /** Returns a unique number; numbers approximately follow the order of the calls. */
  next(): Promise<number>;
}

/** The numbers of a named counter, from 1. */
export function numberSequence(deps: Pick<Ports, "tables">, counter: string): NumberSequence {
  let next = 1;
  let end = 1;
  let refill: Promise<void> | undefined;
  const takeBlock = async (): Promise<void> => {
    const item = await deps.tables.update(
      countersTable,
      { pk: counter, sk: "next" },
      { add: { next: BLOCK } },
    );
    end = (item?.next ?? BLOCK) + 1;
    next = end - BLOCK;
  };
  return {
    next: async () => {
      while (next >= end) {
        refill ??= takeBlock().finally(() => {
          refill = undefined;
        });
        await refill;
      }
      next += 1;
      return next - 1;
    },
  };
}
