import { ApiError } from "../errors.ts";
import type { Service } from "./service.ts";

/** A service for tests of the HTTP layer, with zod's own messages. */
export const testService: Service = {
  name: "test",
  basePath: "/test",
  tokenScope: "test",
  errorFormat: {
    issueMessage: () => undefined,
    missingCredentials: "Missing credentials",
    errorBody: ({ message }) => ({ error: true, message }),
    errorSchema: { name: "TestError", schema: { type: "object" } },
    validationError: (issues) =>
      new ApiError(
        "bad_request",
        issues
          .map(({ part, path, message }) => {
            const field = part === "body" ? path : [part, ...path];
            return field.length === 0 ? message : `${field.join(".")}: ${message}`;
          })
          .join("; "),
      ),
    unsupportedMediaTypeError: (type) => new ApiError("bad_request", `content-type: ${type}`),
  },
};
