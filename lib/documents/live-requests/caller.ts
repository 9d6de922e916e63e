import type { RequestInfo } from "../../http/route.ts";

/** Identifies the caller of a request for limits: the user, or the address of an anonymous one. */
export const callerOf = ({ principal, clientAddress }: RequestInfo): string =>
  principal === undefined ? `from ${clientAddress}` : `${principal.kind} ${principal.id}`;
