import type { StaticFiles } from "./static-files.ts";

/** Serves the files of Swagger UI beside the function's bundle, which are loaded with the first request. */
export const apiPageFiles: StaticFiles = {
  respond: async (request, path) =>
    (await import("./api-page-content.ts")).apiPageFiles.respond(request, path),
};
