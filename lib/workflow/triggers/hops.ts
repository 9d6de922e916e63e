import { ApiError } from "../../errors.ts";
import { EVENT_HOPS_MAX } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import { isSameText, signed } from "./signing.ts";

/** In which a step's call tells how many runs led to it: the value of `WEFT_HOP` in its environment. */
export const HOP_HEADER = "weft-hop";
const TOKEN_MAX_LENGTH = 256;
const TOKEN = /^([\w-]{1,64})\.(\d{1,6})\.([\w-]{43})$/;

type SigningDeps = Pick<Ports, "tables" | "clock">;

/** What a run's steps hand on: its id, how many runs led to it, and a signature over both. */
export async function hopToken(
  deps: SigningDeps,
  { run_id, hop }: { readonly run_id: string; readonly hop: number },
): Promise<string> {
  return `${run_id}.${hop}.${await signed(deps, hopText(run_id, hop))}`;
}

/**
 * The hop of what a request causes: 0 without the header, else one more than that of the run that sent it. Throws
 * `bad_request` for a header that this installation did not sign.
 */
export async function readHop(deps: SigningDeps, headers: Readonly<Record<string, string>>): Promise<number> {
  const token = headers[HOP_HEADER];
  if (token === undefined || token === "") return 0;
  const [, runId = "", hop = "", signature = ""] =
    token.length <= TOKEN_MAX_LENGTH ? (TOKEN.exec(token) ?? []) : [];
  const expected = await signed(deps, hopText(runId, Number(hop)));
  if (runId === "" || !isSameText(signature, expected))
    throw new ApiError("bad_request", `${HOP_HEADER}: must be the value of WEFT_HOP in a step's environment`);
  return Number(hop) + 1;
}

/** Throws `bad_request` where too many runs led to a run that is asked for. */
export function refuseLoop(hop: number): void {
  if (hop > EVENT_HOPS_MAX)
    throw new ApiError("bad_request", `${HOP_HEADER}: more than ${EVENT_HOPS_MAX} runs caused one another`);
}

const hopText = (runId: string, hop: number): string => `hop ${runId} ${hop}`;
