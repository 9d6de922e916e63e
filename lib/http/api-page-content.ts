import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "text" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "text" };
import type { API_PAGE_FILES } from "./api-page.ts";
import { staticFiles } from "./static-files.ts";

const CONTENT: Readonly<Record<(typeof API_PAGE_FILES)[number], string>> = {
  "swagger-ui-bundle.js": script,
  "swagger-ui.css": style,
};

const folder = mkdtempSync(join(tmpdir(), "api-page-"));
for (const [name, text] of Object.entries(CONTENT)) {
  writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
}

/** Serves the files of Swagger UI, which this module contains. */
export const apiPageFiles = staticFiles(folder);
