import { ApiFailure } from "../../client/api.ts";

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiFailure && error.status === status;

/** Whether what was requested does not exist, or is hidden from the user. */
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);

/** Whether the user may not see what was requested. */
export const isForbidden = (error: unknown): boolean => hasStatus(error, 403);

/** Why a record is not shown; undefined for other errors, after which the request can be sent again. */
export function refusalOf(error: unknown): "missing" | "forbidden" | undefined {
  if (isNotFound(error)) return "missing";
  return isForbidden(error) ? "forbidden" : undefined;
}
