import { createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "../errors.ts";

/** The cookie that gives scripts the token, and the header in which they return it. Reference: documents 1.0. */
export const CSRF_COOKIE = "csrftoken";
const CSRF_HEADER = "x-csrftoken";

/**
 * The token of a session: derived from the session's secret id, so that it is valid for this session only and is not
 * stored. It does not reveal the id.
 */
export const csrfToken = (sessionId: string): string =>
  createHmac("sha256", sessionId).update("csrf").digest("base64url");

/** Throws `forbidden` unless the request's header contains the token of its session. Compares in constant time. */
export function requireCsrfToken(sessionId: string, headers: Readonly<Record<string, string>>): void {
  const sent = headers[CSRF_HEADER];
  if (sent === undefined || sent === "")
    throw new ApiError(
      "forbidden",
      `A request with a session cookie requires the header X-CSRFToken with the value of the cookie ${CSRF_COOKIE}`,
    );
  const expected = Buffer.from(csrfToken(sessionId));
  const given = Buffer.from(sent);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new ApiError(
      "forbidden",
      `The header X-CSRFToken does not belong to the session: send the current value of the cookie ${CSRF_COOKIE}`,
    );
}
