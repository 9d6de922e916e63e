import { ApiError } from "../../errors.ts";
import type { WorkflowHead } from "../definitions/table.ts";
import type { CatalogReader } from "./matcher.ts";

/**
 * Throws `bad_request` where a workflow has a manual trigger and it is off: it may then not be started by hand. One
 * without such a trigger may. Reference 4.
 */
export async function refuseByHand(
  { catalog }: { readonly catalog: CatalogReader },
  workflow: WorkflowHead["name"],
): Promise<void> {
  const { triggers } = await catalog.current();
  const manual = (triggers.get(workflow) ?? []).filter(
    ({ spec, origin }) => spec.type === "manual" && origin === "workflow",
  );
  if (manual.length > 0 && manual.every(({ enabled }) => !enabled))
    throw new ApiError("bad_request", `${workflow} may not be started by hand: its manual trigger is off`);
}
