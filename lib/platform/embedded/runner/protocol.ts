import type { PlatformFaultCode } from "../../faults.ts";
import type { TaskResult } from "../../scripts/script-job.ts";
import type { ScriptMessage, ScriptReply } from "../../scripts/script-messages.ts";

/** Variables of the server's own environment that children get where the request does not give them. */
export const BASE_ENV_NAMES = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "SHELL"] as const;

/** The variable that names the step in the environment of its processes. */
export const TOKEN_VARIABLE = "WEFT_STEP_TOKEN";

/** What the server tells the process of scripts, and answers it. `aborted`: the script's caller had given up before it was sent. */
export type ToRunner =
  | {
      readonly kind: "script";
      readonly id: number;
      readonly aborted: boolean;
      readonly request: ScriptMessage;
    }
  | { readonly kind: "abort"; readonly id: number }
  | {
      readonly kind: "answer";
      readonly id: number;
      readonly question: number;
      readonly result: TaskResult;
    };

/** What the process of scripts tells the server. */
export type FromRunner =
  | { readonly kind: "ready" }
  | {
      readonly kind: "ask";
      readonly id: number;
      /** Unique in the process. */
      readonly question: number;
      readonly what: string;
      readonly input: unknown;
    }
  | { readonly kind: "script-ended"; readonly id: number; readonly reply: ScriptReply }
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly code: PlatformFaultCode;
      readonly detail: string;
    }
  | { readonly kind: "left-over"; readonly count: number };
