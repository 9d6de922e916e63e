import { ONLY_READS } from "./shell-readers.ts";
import type { Taint } from "./shell-values.ts";

/** Constraints on values, by hole number, that prevent their execution. */
export class ExecutionRules {
  /** Values that reach an interpreter, and which one. */
  readonly executed = new Map<number, string>();
  /** Values that become part of a program that only reads its input. */
  readonly filtering = new Map<number, string>();
  /** Values in a text that an inner shell reads, quoted for it. */
  readonly inProgram = new Set<number>();
  /** Values that the shell evaluates as arithmetic, through a variable. */
  readonly integers = new Set<number>();
  /** Values that a builtin uses as variable names, through a variable; a subscript in one could execute commands. */
  readonly variableNames = new Set<number>();
  /** Values that would be an option of this command if they begin with `-`. */
  readonly operands = new Map<number, string>();
  /** Values inside a pattern or replacement of sed, between these delimiters. */
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
