import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { computeDiff } from "#lib/workflows/diffs/compute-diff.ts";
import { route as diffAssets } from "../assets/diff.ts";

/** Reference 1.6, GET /vulnerabilities/diff. */
export const route = defineRoute({
  ...diffAssets,
  operationId: "diffVulnerabilities",
  path: "/vulnerabilities/diff",
  summary: "Compare the vulnerabilities of a workspace at two times: added, removed and changed",
  tag: "Vulnerabilities",
  run: async ({ query }, deps: Deps) => ({ data: await computeDiff(deps, "vulnerabilities", query) }),
});

export const handler = toHandler(route, openDeps);
