import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { indexRecords } from "../lists/index-list.ts";
import type { ListDeps } from "../lists/list.ts";
import { readList } from "../lists/read-list.ts";
import { pendingWrite } from "../lists/table.ts";
import { artifactList, artifactsTable, type StoredArtifact } from "./table.ts";

/** Maximum number of artifacts of one run that are deleted; files are kept. */
const FORGOTTEN_MAX = 10_000;

/** Removes the artifacts of a run from the list, except those that a later run has registered. Idempotent. */
export async function deleteArtifacts(deps: ListDeps & Pick<Ports, "ids">, runId: string): Promise<void> {
  const filters = [{ field: "run", value: runId }];
  const { items } = await readList(deps, artifactList, filters, { offset: 0, limit: FORGOTTEN_MAX });
  for await (const page of items) {
    const own = page.filter(({ run_id }) => run_id === runId);
    for (const artifact of own) await deps.tables.write(forgetting(deps, artifact));
    await indexRecords(
      deps,
      artifactList,
      own.map(({ pk }) => pk),
    );
  }
}

function forgetting({ ids }: Pick<Ports, "ids">, { pk, sk, list_token }: StoredArtifact): Write[] {
  return [
    {
      op: "delete",
      table: artifactsTable,
      key: { pk, sk },
      when: [["list_token", "=", list_token]],
    },
    pendingWrite(artifactList.name, pk, ids.random(), { gone: true }),
  ];
}
