/** Argument of a process that gives way to requests of the server. */
export const BACKGROUND = "--background";

/** Messages of the server to a task process, handled one at a time. */
export interface ToTaskProcess<Task> {
  readonly id: number;
  readonly task: Task;
}

/** Messages of a task process: that it has loaded, and the outcome of each task. */
export type FromTaskProcess<Value> =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly id: number; readonly value: Value }
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly why: string;
      /** Why, for users. */
      readonly message?: string | undefined;
    };

export type TaskResult<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `refused`: the task threw, `message` says why. Otherwise it exceeded its time or memory limit. */
  | {
      readonly ok: false;
      readonly reason: "refused" | "timeout" | "memory";
      readonly message?: string | undefined;
    };
