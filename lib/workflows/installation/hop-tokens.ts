import { ApiError } from "../../errors.ts";
import { type Cause, EVENT_HOPS_MAX } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { isSameText, sign } from "./signing.ts";

/** Carries the hop token of a step's request: the value of `WEFT_HOP` in its environment. */
export const HOP_HEADER = "weft-hop";
const TOKEN_MAX_LENGTH = 256;
/** Tokens of earlier releases have no root cause. */
const TOKEN = /^([\w-]{1,64})\.(\d{1,6})(?:\.([\w-]{1,64}))?\.([\w-]{43})$/;

type SigningDeps = Pick<Ports, "tables" | "clock">;

/** The token that the steps of a run pass on: its id, hop, root cause and a signature. */
export async function hopToken(
  deps: SigningDeps,
  { run_id, hop, root_cause }: Required<Cause> & { readonly run_id: string },
): Promise<string> {
  return `${run_id}.${hop}.${root_cause}.${await sign(deps, hopText(run_id, hop, root_cause))}`;
}

/**
 * The cause of a request: hop 0 without the header, else the run that sent it. Throws `bad_request` if this installation
 * did not sign the header.
 */
export async function readCause(
  deps: SigningDeps,
  headers: Readonly<Record<string, string>>,
): Promise<Required<Pick<Cause, "hop">> & Cause> {
  const token = headers[HOP_HEADER];
  if (token === undefined || token === "") return { hop: 0 };
  const [, runId = "", hop = "", rootCause, signature = ""] =
    token.length <= TOKEN_MAX_LENGTH ? (TOKEN.exec(token) ?? []) : [];
  const expected = await sign(deps, hopText(runId, Number(hop), rootCause));
  if (runId === "" || !isSameText(signature, expected))
    throw new ApiError("bad_request", `${HOP_HEADER}: must be the value of WEFT_HOP in a step's environment`);
  return { hop: Number(hop) + 1, root_cause: rootCause ?? runId };
}

/** Throws `bad_request` if a request has too many hops. */
export function requireHopLimit(hop: number): void {
  if (hop > EVENT_HOPS_MAX)
    throw new ApiError(
      "bad_request",
      `${HOP_HEADER}: more than ${EVENT_HOPS_MAX} runs triggered one another`,
    );
}

const hopText = (runId: string, hop: number, rootCause: string | undefined): string =>
  rootCause === undefined ? `hop ${runId} ${hop}` : `hop ${runId} ${hop} ${rootCause}`;
