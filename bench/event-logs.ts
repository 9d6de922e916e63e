import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { measureEcho } from "./harness/echo.ts";
import { openFilledFolder } from "./harness/filled.ts";
import { checkTotal, measureDuringEvents, type Query, timeQueries } from "./harness/listing.ts";
import type { KindReport } from "./harness/load-plan.ts";
import { countOf, eventDraft } from "./harness/records.ts";
import { type Server, startServer } from "./harness/server.ts";

const SIZES = [100_000, 1_000_000];
const BRIEF_SIZES = [2_000];
const LIMIT = 20;
const RATE = 500;
const TARGET_MS: Readonly<Record<string, number>> = { newest: 1, "three filters": 2, "offset at 90 %": 2 };
/** Limit while events arrive, as a multiple of the time without arriving events. */
const WHILE_ARRIVING = 2;

type Timed = Readonly<Record<string, KindReport>>;

await runBenchmark({
  name: "event-logs",
  what: "GET /event-logs at 100,000 and 1,000,000 records, one connection, p50",
  peer: "1.9, 44 and 7.7 ms at 100,000",
  measure: async ({ brief }) => {
    const seconds = brief ? 0.3 : 3;
    const echo = await measureEcho({ seconds });
    const figures: Figure[] = [];
    const p99: Record<string, number> = {};
    for (const size of brief ? BRIEF_SIZES : SIZES) {
      const server = await startServer({ dataDir: await openFilledFolder("events", size) });
      const alone = await timeQueries(server, queriesAt(size), seconds);
      const arriving = await timeWhileArriving(server, size, seconds);
      await server.stop();
      figures.push(...figuresAt(size, alone, arriving));
      for (const [name, { p99: ms }] of Object.entries(alone)) p99[`${size} ${name}`] = ms;
      for (const [name, { p99: ms }] of Object.entries(arriving)) p99[`${size} ${name}, arriving`] = ms;
    }
    return {
      figures: figures as [Figure, ...Figure[]],
      baseline: { echo_p50_ms: echo.p50 },
      details: { p99_ms: p99 },
    };
  },
});

function queriesAt(size: number): Query[] {
  const fits = ({ topic, workspace }: ReturnType<typeof eventDraft>): boolean =>
    topic === "custom.host.seen" && workspace === "ws-3";
  const filters = "topic=custom.host.seen&processed=true&workspace=ws-3";
  return [
    { name: "newest", path: `/event-logs?limit=${LIMIT}`, total: size, length: LIMIT },
    {
      name: "three filters",
      path: `/event-logs?${filters}&limit=${LIMIT}`,
      length: LIMIT,
      total: countOf(size, eventDraft, fits),
    },
    {
      name: "offset at 90 %",
      path: `/event-logs?limit=${LIMIT}&offset=${size * 0.9}`,
      length: LIMIT,
      total: size,
    },
  ];
}

/** Times the queries while events arrive. Afterwards the total and the filtered total must be exact. */
async function timeWhileArriving(server: Server, size: number, seconds: number): Promise<Timed> {
  const timed: Record<string, KindReport> = {};
  const arrived = await measureDuringEvents(server, RATE, async () => {
    Object.assign(timed, await timeQueries(server, queriesAt(size), seconds, false));
  });
  const [newest, filtered] = queriesAt(size);
  if (newest === undefined || filtered === undefined) throw new Error("no queries");
  await checkTotal(server, { ...newest, total: size + arrived });
  await checkTotal(server, filtered);
  return timed;
}

function figuresAt(size: number, alone: Timed, arriving: Timed): Figure[] {
  return Object.entries(TARGET_MS).flatMap(([name, target]): Figure[] => {
    const p50 = alone[name]?.p50 ?? Number.NaN;
    const busy = arriving[name]?.p50 ?? Number.NaN;
    const what = `${name}, ${size.toLocaleString("en-US")} records`;
    return [
      { what, value: p50, unit: "ms", target },
      {
        what: `${what}, ${RATE} events/s arriving`,
        value: busy,
        unit: "ms",
        target: target * WHILE_ARRIVING,
      },
      { what: `${what}, that as many times the first`, value: busy / p50, unit: "x" },
    ];
  });
}
