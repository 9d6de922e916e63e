import type { PlatformFaultCode } from "../../faults.ts";
import type { TaskResult } from "../../scripts/script-job.ts";

/** Variables of the server's environment that child processes inherit if the request does not set them. */
export const BASE_ENV_NAMES = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "SHELL"] as const;

/** The variable that identifies the step in the environment of its processes. */
export const TOKEN_VARIABLE = "WEFT_STEP_TOKEN";

/** Messages of the server to a runner process. `aborted`: the caller had aborted before the request was sent. */
export type ToRunner<Request> =
  | { readonly kind: "run"; readonly id: number; readonly aborted: boolean; readonly request: Request }
  | { readonly kind: "abort"; readonly id: number }
  | {
      readonly kind: "answer";
      readonly id: number;
      readonly callId: number;
      readonly result: TaskResult;
    };

/** Messages of a runner process to the server. */
export type FromRunner<Reply> =
  | { readonly kind: "ready" }
  | {
      readonly kind: "ask";
      readonly id: number;
      /** Unique within the process. */
      readonly callId: number;
      readonly what: string;
      readonly input: unknown;
    }
  | { readonly kind: "ended"; readonly id: number; readonly reply: Reply }
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly code: PlatformFaultCode;
      readonly detail: string;
    }
  /** For the server's log. */
  | { readonly kind: "warning"; readonly message: string; readonly fields: Record<string, unknown> };
