import { ONLY_READS } from "./shell-readers.ts";
import type { Taint } from "./shell-values.ts";

/** What has to hold for values, by the numbers of their holes, so that none is executed. */
export class ExecutionRules {
  /** They reach an interpreter; which one. */
  readonly executed = new Map<number, string>();
  /** They become part of a program that only reads what it is given. */
  readonly filtering = new Map<number, string>();
  /** They stand in a text that an inner shell reads, quoted for it. */
  readonly inProgram = new Set<number>();
  /** The shell calculates with them, by way of a variable. */
  readonly integers = new Set<number>();
  /** A builtin takes them for names of variables, by way of a variable; a subscript in one could execute commands. */
  readonly variableNames = new Set<number>();
  /** Beginning with `-` they would be an option of this command. */
  readonly operands = new Map<number, string>();
  /** They stand inside of a pattern or replacement of sed, between these delimiters. */
  readonly sedTexts = new Map<number, string>();

  execute(taint: Taint | undefined, reader: string): void {
    const found = ONLY_READS.has(reader) ? this.filtering : this.executed;
    if (taint !== undefined && !found.has(taint.hole)) found.set(taint.hole, reader);
  }

  requireInteger({ hole, exact }: Taint): void {
    if (exact) this.integers.add(hole);
  }

  requireOperand({ hole }: Taint, command: string): void {
    if (!this.operands.has(hole)) this.operands.set(hole, command);
  }
}
