import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { staticFiles } from "./static-files.ts";

/** Serves the installed files of Swagger UI. Functions in Lambda contain `api-page-files-bundled.ts` instead. */
export const apiPageFiles = staticFiles(
  dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json"))),
);
