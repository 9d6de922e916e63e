import type { RequestInfo } from "./route.ts";

/** Identifies the caller of a request for limits: the user, or the address of an anonymous one. */
export const callerOf = ({
  principal,
  clientAddress,
}: Pick<RequestInfo, "principal" | "clientAddress">): string =>
  principal === undefined ? `from ${clientAddress}` : `${principal.kind} ${principal.id}`;
