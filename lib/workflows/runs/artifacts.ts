import type { Ports } from "../../platform/ports.ts";
import { type ArtifactRecord, listArtifacts } from "../artifacts/list.ts";
import type { FileDeps } from "../artifacts/open-artifact.ts";
import type { ListDeps } from "../lists/list.ts";
import { getRun } from "./read.ts";

/** Maximum number of artifacts in one response. */
const OF_RUN_MAX = 10_000;

/** Returns the artifacts of a run, newest first. Throws `not_found`. */
export async function artifactsOfRun(
  deps: ListDeps & FileDeps & Pick<Ports, "tables">,
  runId: string,
): Promise<ArtifactRecord[]> {
  const { run_id } = await getRun(deps, runId);
  const { items } = await listArtifacts(deps, { run: run_id }, { offset: 0, limit: OF_RUN_MAX }, false);
  const data: ArtifactRecord[] = [];
  for await (const page of items) data.push(...page);
  return data;
}
