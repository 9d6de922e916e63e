import * as z from "zod";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { onePage } from "../lists/read-list.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import { revisionKey, revisionsTable } from "../store/table.ts";

/** Each revision is read with its definition. */
export const REVISIONS_LIMIT_MAX = 100;

export const revisionRecord = z
  .object({
    name: z.string(),
    revision: z.int(),
    checksum: z.string().describe("SHA-256 of the text"),
    created_at: z.string(),
  })
  .meta({ id: "WorkflowRevision" });

/** Returns the revisions of a workflow, newest first; `GET /workflows/{name}` has their texts. Throws `not_found`. */
export async function listRevisions(
  deps: Pick<Ports, "tables">,
  name: string,
  { offset, limit }: PageRequest,
): Promise<Listing<z.infer<typeof revisionRecord>>> {
  const head = await findWorkflow(deps, name);
  const newest = head.revision - offset;
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, newest)) }, (_, index) => newest - index);
  const found = await deps.tables.batchGet(
    revisionsTable,
    numbers.map((number) => revisionKey(head.name, number)),
  );
  const records = found
    .map(({ name: stored, revision, checksum, created_at }) => ({
      name: stored,
      revision,
      checksum,
      created_at,
    }))
    .toSorted((one, other) => other.revision - one.revision);
  return { total: head.revision, items: onePage(records) };
}
