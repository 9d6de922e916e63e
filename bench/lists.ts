import { runBenchmark } from "./harness/benchmark.ts";
import { measureEcho } from "./harness/echo.ts";
import { openFilledFolder } from "./harness/filled.ts";
import {
  artifactDraft,
  catalogSize,
  runOf,
  STEPS_A_RUN,
  scheduleSpec,
  stepOf,
  vulnerabilityDraft,
  WORKSPACES,
} from "./harness/list-records.ts";
import { checkTotal, listFigures, type Query, timeQueries } from "./harness/listing.ts";
import { countOf } from "./harness/records.ts";
import { startServer } from "./harness/server.ts";

const SIZE = 100_000;
const BRIEF_SIZE = 400;
const LIMIT = 20;
const TARGET_MS = 3;
const NEWEST = "newest";

await runBenchmark({
  name: "lists",
  what: "Every other list at 100,000 (workflows and schedules: 10,000), any offset, each filter, p50",
  peer: "-",
  measure: async ({ brief }) => {
    const size = brief ? BRIEF_SIZE : SIZE;
    const seconds = brief ? 0.02 : 1;
    const echo = await measureEcho({ seconds });
    const server = await startServer({ dataDir: await openFilledFolder("lists", size) });
    const queries = queriesAt(size);
    for (const query of queries) await checkTotal(server, query);
    const timed = await timeQueries(
      server,
      brief ? queries.filter(({ name }) => name.endsWith(NEWEST)) : queries,
      seconds,
      // All queries are already checked above, also those that are not timed.
      false,
    );
    const { figures, p99_ms } = listFigures(timed, TARGET_MS);
    return { figures, baseline: { echo_p50_ms: echo.p50 }, details: { p99_ms, records: size } };
  },
});

type Fits<Row> = (row: Row) => boolean;

/** Queries of a list: pages at three offsets, then one for each filter. */
function list<Row>(
  path: string,
  size: number,
  row: (number: number) => Row,
  filters: Readonly<Record<string, Fits<Row>>> = {},
): Query[] {
  const query = (name: string, parameters: string, total: number, offset = 0): Query => ({
    name: `${path.slice(1)}, ${name}`,
    total,
    path: `${path}?limit=${LIMIT}&offset=${offset}${parameters}`,
    length: Math.min(LIMIT, total - offset),
  });
  return [
    query(NEWEST, "", size),
    query("offset at 50 %", "", size, Math.floor(size / 2)),
    query("offset at 90 %", "", size, Math.floor(size * 0.9)),
    ...Object.entries(filters).map(([filter, fits]) => query(filter, `&${filter}`, countOf(size, row, fits))),
  ];
}

function queriesAt(size: number): Query[] {
  const catalog = catalogSize(size);
  const webhooks = countOf(catalog, scheduleSpec, ({ type }) => type === "webhook");
  const step = (number: number) => ({
    ...stepOf(runOf(Math.floor(number / STEPS_A_RUN)), number % STEPS_A_RUN),
    workspace: runOf(Math.floor(number / STEPS_A_RUN)).workspace,
  });
  const ofRun = runOf(3).run_id;
  return [
    ...list("/runs", size, runOf, {
      "status=failed": ({ status }) => status === "failed",
      "status=running": () => false,
      "workflow=workflow-3": ({ workflow_name }) => workflow_name === "workflow-3",
      "workspace=ws-3": ({ workspace }) => workspace === "ws-3",
      "target=HOST-1": ({ target }) => target.includes("host-1"),
      "workspace=ws-3&status=failed": ({ workspace, status }) => workspace === "ws-3" && status === "failed",
      [`job_id=${ofRun}`]: ({ run_id }) => run_id === ofRun,
    }),
    ...list("/step-results", size, step, {
      "status=failed": ({ status }) => status === "failed",
      "step_type=bash": ({ step_type }) => step_type === "bash",
      "workspace=ws-3": ({ workspace }) => workspace === "ws-3",
      [`run_id=${ofRun}`]: ({ pk }) => pk === ofRun,
    }),
    ...list("/vulnerabilities", size, vulnerabilityDraft, {
      "severity=high": ({ data }) => data.severity === "high",
      "confidence=Certain": ({ data }) => data.confidence === "Certain",
      "workspace=ws-3": ({ workspace }) => workspace === "ws-3",
      "asset_value=HOST-1": ({ data }) => String(data.asset_value).includes("host-1"),
    }),
    ...list("/artifacts", size, artifactDraft, {
      "artifact_type=report": ({ data }) => data.artifact_type === "report",
      "workspace=ws-3": ({ workspace }) => workspace === "ws-3",
      "search=PART-1": ({ data }) => String(data.artifact_path).includes("part-1"),
    }),
    ...list("/workspaces", size + WORKSPACES, (number) => (number < size ? `area-${number}` : "ws"), {
      "search=AREA-1": (name) => name.includes("area-1"),
    }),
    ...list("/dead-letters", size, (number) => number),
    ...list("/workflows", catalog, (number) => number, {
      "search=workflow-1": (number) => `workflow-${number}`.includes("workflow-1"),
      "tags=tag-3": (number) => number % 10 === 3,
      "kind=module": () => true,
    }),
    ...list("/schedules", catalog, scheduleSpec, {
      "trigger_type=event": ({ type }) => type === "event",
      "enabled=true": ({ enabled }) => enabled,
      "workflow_name=workflow-3": ({ name }) => Number(name.slice("schedule-".length)) % 100 === 3,
    }),
    ...list("/webhooks", webhooks, (number) => number),
  ];
}
