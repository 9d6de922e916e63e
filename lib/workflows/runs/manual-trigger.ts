import { ApiError } from "../../errors.ts";
import type { CatalogReader } from "../store/catalog.ts";
import { findByName } from "../store/find-workflow.ts";
import type { WorkflowHead } from "../store/table.ts";

/**
 * Throws `bad_request` if the workflow has a manual trigger and it is disabled. A workflow without a manual trigger may
 * be started by hand. Reference 4.
 */
export async function requireManualStart(
  { catalog }: { readonly catalog: CatalogReader },
  workflow: WorkflowHead["name"],
): Promise<void> {
  const { heads, byName, triggers } = await catalog.current();
  const name = byName.has(workflow) ? workflow : findByName(heads, workflow)?.name;
  const manual = (triggers.get(name ?? workflow) ?? []).filter(
    ({ spec, origin }) => spec.type === "manual" && origin === "workflow",
  );
  if (manual.length > 0 && manual.every(({ enabled }) => !enabled))
    throw new ApiError(
      "bad_request",
      `${workflow} cannot be started manually: its manual trigger is disabled`,
    );
}
