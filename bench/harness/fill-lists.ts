import type { Deps } from "../../lib/app/compose.ts";
import { emitEvents } from "../../lib/events/publish.ts";
import type { Write } from "../../lib/platform/tables.ts";
import { artifactList } from "../../lib/workflows/artifacts/table.ts";
import { recordLastFailure } from "../../lib/workflows/dead-letters/dead-letters.ts";
import { deadLetterList } from "../../lib/workflows/dead-letters/table.ts";
import { eventBatches } from "../../lib/workflows/findings/event-batches.ts";
import { indexPending } from "../../lib/workflows/lists/index-list.ts";
import { indexEventRecords } from "../../lib/workflows/records/index-lists.ts";
import { runPendingWrite } from "../../lib/workflows/runs/run-list.ts";
import { stepsPendingWrite } from "../../lib/workflows/runs/step-results.ts";
import { runsTable, stepsTable } from "../../lib/workflows/runs/table.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";
import { saveWorkflow } from "../../lib/workflows/store/store.ts";
import { catalogWrites } from "../../lib/workflows/store/table.ts";
import { insertWrites, newScheduleRow } from "../../lib/workflows/store/trigger-rows.ts";
import { createdKey, triggerStateTable } from "../../lib/workflows/store/trigger-tables.ts";
import { workspaceList } from "../../lib/workflows/workspaces/workspace-records.ts";
import {
  artifactDraft,
  catalogSize,
  deadLetterOf,
  runOf,
  STEPS_A_RUN,
  scheduleSpec,
  stepOf,
  vulnerabilityDraft,
  workflowText,
  workspaceDraft,
} from "./list-records.ts";

const UNDER_WAY = 20;
/** Runs without steps per transaction, which has at most 100 writes. */
const RUNS_AT_ONCE = 40;
const MARKS_AT_ONCE = 250;

/**
 * Fills every list except events and assets with `count` records through the functions of the endpoints and the
 * conductor. Writes runs and steps in their final state, because executing them would take many minutes.
 */
export async function fillLists(deps: Deps, count: number): Promise<void> {
  await fillCatalog(deps, catalogSize(count));
  for (const draft of [vulnerabilityDraft, workspaceDraft, artifactDraft]) {
    const drafts = function* () {
      for (let number = 0; number < count; number += 1) yield draft(number);
    };
    await inParallel(eventBatches(drafts()), (batch) => emitEvents(deps, batch));
    await indexMarks(deps);
  }
  await inParallel(upTo(count), (number) => recordLastFailure(deps, deadLetterOf(number)));
  await indexMarks(deps);
  await fillRuns(deps, count);
}

async function indexMarks(deps: Deps): Promise<void> {
  while ((await indexPending(deps, workspaceList, MARKS_AT_ONCE)) > 0);
  while ((await indexPending(deps, artifactList, MARKS_AT_ONCE)) > 0);
  while ((await indexPending(deps, deadLetterList, MARKS_AT_ONCE)) > 0);
}

/** Writes `count` runs and as many steps; the first runs have several steps each. */
async function fillRuns(deps: Deps, count: number): Promise<void> {
  for (let start = 0; start < count; start += RUNS_AT_ONCE) {
    const runs = Array.from({ length: Math.min(RUNS_AT_ONCE, count - start) }, (_, at) => runOf(start + at));
    await deps.tables.write(runs.flatMap((item) => [put(runsTable, item), runPendingWrite(item)]));
    for (const run of runs) {
      if (run.number * STEPS_A_RUN >= count) break;
      const steps = Array.from({ length: STEPS_A_RUN }, (_, at) => put(stepsTable, stepOf(run, at)));
      await deps.tables.write([...steps, stepsPendingWrite(run.run_id)]);
    }
    const ends = runs.map(({ run_id }) => ({ topic: "run.completed", run_id }));
    await indexEventRecords(deps, ends, false);
  }
}

const put = (table: typeof runsTable | typeof stepsTable, item: { pk: string; sk: string }): Write => ({
  op: "put",
  table,
  item,
});

/** Writes workflows with `saveWorkflow`, and schedules with their trigger states directly to the tables. */
async function fillCatalog(deps: Deps, count: number): Promise<void> {
  const parsed = parseDefinition(workflowText);
  if (!parsed.ok) throw new Error("the workflow of the benchmark is not valid");
  const { definition } = parsed;
  await inParallel(upTo(count), (number) =>
    saveWorkflow(deps, {
      definition: { ...definition, name: `workflow-${number}`, tags: [`tag-${number % 10}`] },
      yaml: `${workflowText}# ${number}`,
      source: "api",
    }),
  );
  await inParallel(upTo(count), async (number) => {
    const spec = scheduleSpec(number);
    const enabled = number % 2 === 0;
    const workflow = `workflow-${number % 100}`;
    const id = `sch_${deps.ids.ordered()}`;
    const row = newScheduleRow(deps, id, { workflow, origin: "api", spec, enabled });
    const made: Write = {
      op: "put",
      table: triggerStateTable,
      item: { ...createdKey(id), workflow, spec, enabled },
    };
    await deps.tables.write([...insertWrites(row), made]);
  });
  await deps.tables.write(catalogWrites(deps));
}

function* upTo(count: number): Generator<number> {
  for (let number = 0; number < count; number += 1) yield number;
}

async function inParallel<Item>(
  items: Iterator<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let next = items.next(); next.done !== true; next = items.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, worker));
}
