import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listDiffs } from "#lib/workflows/diffs/stored-diffs.ts";
import { route as listAssetDiffs } from "../assets/diffs.ts";

/** Reference 1.6, GET /vulnerabilities/diffs. */
export const route = defineRoute({
  ...listAssetDiffs,
  operationId: "listVulnerabilityDiffs",
  path: "/vulnerabilities/diffs",
  summary: "List stored vulnerability diffs, newest first",
  tag: "Vulnerabilities",
  run: async ({ query }, deps: Deps) => {
    const { workspace, ...page } = query;
    return { listing: await listDiffs(deps, "vulnerabilities", workspace, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
