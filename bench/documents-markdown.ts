import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { markdownOf, stateOfMarkdown } from "./harness/document-content.ts";
import { measureEcho } from "./harness/echo.ts";
import { sendLoad } from "./harness/load.ts";
import { cpuMs } from "./harness/processes.ts";
import { startServer } from "./harness/server.ts";

interface Size {
  readonly bytes: number;
  /** CPU time of all processes per request, milliseconds. */
  readonly target: number;
  readonly peer: string;
  readonly warmUp: number;
  readonly count: number;
}

const SIZES: readonly [Size, Size] = [
  { bytes: 1_000, target: 25, peer: "CPU 16 to 22 ms", warmUp: 60, count: 100 },
  { bytes: 50_000, target: 300, peer: "CPU 634 ms", warmUp: 4, count: 20 },
];

await runBenchmark({
  name: "documents-markdown",
  what: "Content as markdown, one after another: CPU of all processes a request",
  peer: "CPU 16 to 22 ms; 634 ms",
  measure: async ({ brief }) => {
    const echo = await measureEcho({ count: brief ? 10 : 5_000 });
    const server = await startServer();
    const { port, token } = server;
    const figures: Figure[] = [];
    for (const { bytes, target, peer, warmUp, count } of SIZES) {
      const text = markdownOf(bytes);
      const state = await stateOfMarkdown(text);
      const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
      const document = `/api/v1.0/documents/${(created.json as { id: string }).id}`;
      const body = { content: Buffer.from(state).toString("base64") };
      await server.call("PATCH", `/${document}/content/`, { body });
      const path = `${document}/formatted-content/?content_format=markdown`;
      const { json } = await server.call("GET", `/${path}`);
      const returned = (json as { content?: string }).content;
      // The conversion changes empty lines, so only letters are compared.
      if (letters(returned) !== letters(text))
        throw new Error(`not what was written: ${returned?.slice(0, 500)}`);

      const load = { port, token, connections: 1, kinds: [{ name: "get", method: "GET", path }] };
      await sendLoad({ ...load, count: brief ? 1 : warmUp });
      const before = cpuMs(server.pid);
      const report = await sendLoad({ ...load, count: brief ? 2 : count });
      const cpu = (cpuMs(server.pid) - before) / report.answers;
      const what = `markdown of ${bytes / 1_000} KB, a state of ${Math.round(state.length / 1_000)} KB`;
      figures.push({ what: `${what}: CPU`, value: cpu, unit: "ms", target, peer });
      figures.push({ what: `${what}: p50`, value: report.kinds.get?.p50 ?? Number.NaN, unit: "ms" });
    }
    await server.stop();
    const [first, ...rest] = figures;
    if (first === undefined) throw new Error("nothing was converted");
    return { figures: [first, ...rest], baseline: { echo_p50_ms: echo.p50, echo_cpu_us: echo.cpuUs } };
  },
});

function letters(text = ""): string {
  return text.replaceAll(/[^\p{L}]/gu, "");
}
