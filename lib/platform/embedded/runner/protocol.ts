import type { CommandOutcome } from "../../commands.ts";
import type { PlatformFaultCode } from "../../faults.ts";
import type { ScriptMessage, ScriptReply } from "../../scripts/script-messages.ts";

/** Variables of the runner's own environment that children get where the request does not give them. */
export const BASE_ENV_NAMES = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TERM", "USER", "SHELL"] as const;

/** The variable that names the step in the environment of its processes. */
export const TOKEN_VARIABLE = "WEFT_STEP_TOKEN";

export interface CommandMessage {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
  readonly token: string;
}

/** A request; `aborted`: its caller had given up before it was sent. */
export type Work = { readonly id: number; readonly aborted: boolean } & (
  | { readonly kind: "command"; readonly request: CommandMessage }
  | { readonly kind: "script"; readonly request: ScriptMessage }
);

/** What the server tells the runner. */
export type ToRunner =
  | Work
  | { readonly kind: "abort"; readonly id: number }
  /** Ends whatever still carries one of these tokens: left by a runner that died. */
  | { readonly kind: "sweep"; readonly tokens: readonly string[] };

/** What the runner tells the server. */
export type FromRunner =
  | { readonly kind: "ready" }
  | { readonly kind: "command-ended"; readonly id: number; readonly outcome: CommandOutcome }
  | { readonly kind: "script-ended"; readonly id: number; readonly reply: ScriptReply }
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly code: PlatformFaultCode;
      readonly detail: string;
    }
  | { readonly kind: "left-over"; readonly count: number };
