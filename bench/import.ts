import { runBenchmark } from "./harness/benchmark.ts";
import { checkTotal } from "./harness/listing.ts";
import { cpuMs, untilQuiet } from "./harness/processes.ts";
import { assetDraft } from "./harness/records.ts";
import { type Server, startServer } from "./harness/server.ts";
import { shellMs } from "./harness/shell.ts";

const SIZE = 100_000;
/** Below the request limit of 4 MiB. */
const BODY_MAX_LENGTH = 4_000_000;
const TARGET_S = 6;
const QUIET_MAX_MS = 60_000;

interface Answer {
  readonly assets: { readonly discovered: number; readonly unchanged: number };
}

await runBenchmark({
  name: "import",
  what: "Import of 100,000 assets, JSONL of httpx, each with its event",
  peer: "-",
  measure: async ({ brief }) => {
    const size = brief ? 2_000 : SIZE;
    const bodies = bodiesOf(size);
    const server = await startServer();
    const cpuBefore = cpuMs(server.pid);
    const start = performance.now();
    const discovered = await importAll(server, bodies, ({ discovered }) => discovered);
    const acknowledged = performance.now() - start;
    const cpu = cpuMs(server.pid) - cpuBefore;
    await checkTotal(server, { name: "all", path: "/assets?limit=1", total: size, length: 1 });
    await untilQuiet(server.pid, QUIET_MAX_MS);
    const cpuInAll = cpuMs(server.pid) - cpuBefore;
    const events = "/event-logs?topic=asset.discovered&limit=1";
    await checkTotal(server, { name: "events", path: events, total: size, length: 1 });
    const repeatStart = performance.now();
    const unchanged = await importAll(server, bodies, (assets) => assets.unchanged);
    const repeated = performance.now() - repeatStart;
    if (discovered !== size || unchanged !== size)
      throw new Error(`${discovered} discovered and ${unchanged} unchanged of ${size}`);
    return {
      figures: [
        { what: "acknowledged", value: acknowledged / 1_000, unit: "s", target: TARGET_S },
        { what: "CPU until then", value: cpu / 1_000, unit: "s" },
        { what: "CPU until all is indexed", value: cpuInAll / 1_000, unit: "s" },
        { what: "the same again, nothing changed", value: repeated / 1_000, unit: "s" },
      ],
      baseline: { sort_ms: await shellMs(`seq ${size} | sort -R | sort -u | wc -l`) },
      details: { assets: size, requests: bodies.length },
    };
  },
});

/** Request bodies of lines in httpx's format, each up to the length limit. */
function bodiesOf(size: number): string[] {
  const bodies: string[] = [];
  let body = "";
  for (let number = 0; number < size; number += 1) {
    const { asset_value, title, host_ip, status_code, tech } = assetDraft(number).data;
    const url = `https://${String(asset_value)}`;
    const line = `${JSON.stringify({ url, input: asset_value, title, host: host_ip, status_code, tech, scheme: "https", method: "GET" })}\n`;
    if (body.length + line.length > BODY_MAX_LENGTH) {
      bodies.push(body);
      body = "";
    }
    body += line;
  }
  return [...bodies, body];
}

async function importAll(
  server: Server,
  bodies: readonly string[],
  count: (assets: Answer["assets"]) => number,
): Promise<number> {
  let sum = 0;
  for (const body of bodies) {
    const { status, json, message } = await server.call("POST", "/assets/import?workspace=bench", { body });
    if (status !== 200) throw new Error(`an import was answered with ${status}: ${message}`);
    sum += count((json as Answer).assets);
  }
  return sum;
}
