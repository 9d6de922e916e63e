import { ApiError } from "../../errors.ts";

/** Error messages as defined by the API. Reference 1.0. */
export const notAuthenticated = (): ApiError =>
  new ApiError("unauthorized", "Authentication credentials were not provided.");

export const permissionDenied = (): ApiError =>
  new ApiError("forbidden", "You do not have permission to perform this action.");
