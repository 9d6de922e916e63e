import { runBenchmark } from "./harness/benchmark.ts";
import { measureEcho } from "./harness/echo.ts";
import { openFilledFolder } from "./harness/filled.ts";
import { listFigures, type Query, timeQueries } from "./harness/listing.ts";
import { assetDraft, countOf } from "./harness/records.ts";
import { startServer } from "./harness/server.ts";

const SIZE = 100_000;
const LIMIT = 100;
const TARGET_MS = 3;

type Data = Readonly<Record<string, unknown>>;

await runBenchmark({
  name: "assets",
  what: "GET /assets of 100 at 100,000, any offset, each filter, one connection, p50",
  peer: "636 ms",
  measure: async ({ brief }) => {
    const size = brief ? 2_000 : SIZE;
    const seconds = brief ? 0.3 : 3;
    const echo = await measureEcho({ seconds });
    const server = await startServer({ dataDir: await openFilledFolder("assets", size) });
    const timed = await timeQueries(server, queriesAt(size), seconds);
    const { figures, p99_ms } = listFigures(timed, TARGET_MS);
    return { figures, baseline: { echo_p50_ms: echo.p50 }, details: { p99_ms, assets: size } };
  },
});

function queriesAt(size: number): Query[] {
  const count = (fits: (data: Data, workspace: string | undefined) => boolean): number =>
    countOf(size, assetDraft, ({ data, workspace }) => fits(data, workspace));
  const query = (name: string, parameters: string, total: number): Query => ({
    name,
    total,
    path: `/assets?limit=${LIMIT}${parameters}`,
    length: Math.min(LIMIT, total),
  });
  const middle = `&offset=${size / 2}`;
  return [
    query("newest", "", size),
    query("offset at 50 %", middle, size),
    query("offset at 90 %", `&offset=${size * 0.9}`, size),
    query(
      "workspace",
      "&workspace=ws-3",
      count((_data, workspace) => workspace === "ws-3"),
    ),
    query(
      "asset_type",
      "&asset_type=domain",
      count(({ asset_type }) => asset_type === "domain"),
    ),
    query(
      "source",
      "&source=scan",
      count(({ source }) => source === "scan"),
    ),
    query(
      "search, common",
      "&search=RACK%207",
      count(({ title }) => /rack 7/.test(String(title))),
    ),
    query(
      "search, rare",
      "&search=host-1234.",
      count(({ asset_value }) => String(asset_value).includes("host-1234.")),
    ),
  ];
}
