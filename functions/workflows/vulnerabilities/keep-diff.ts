import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { createDiff } from "#lib/workflows/diffs/stored-diffs.ts";
import { route as keepAssetDiff } from "../assets/keep-diff.ts";

/** Stores the result of GET /vulnerabilities/diff. Reference 1.6 has only the rows. */
export const route = defineRoute({
  ...keepAssetDiff,
  operationId: "keepVulnerabilityDiff",
  path: "/vulnerabilities/diffs",
  summary: "Compare the vulnerabilities of a workspace at two times, and store the diff",
  tag: "Vulnerabilities",
  run: async ({ body }, deps: Deps) => ({
    data: await createDiff(deps, "vulnerabilities", body),
    message: "Diff stored",
  }),
});

export const handler = toHandler(route, openDeps);
