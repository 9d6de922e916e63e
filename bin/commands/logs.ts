import { setTimeout as sleep } from "node:timers/promises";
import { WeftCommand } from "../command.ts";
import { type Connection, connect, ErrorResponse, readBody } from "../connection.ts";
import { CommandFailure } from "../errors.ts";
import { addServerOptions, type ServerOptions, wholeNumber } from "../options.ts";
import { FINISHED, readRun, runPath } from "../run-progress.ts";
import { terminal } from "../terminal.ts";

const POLL_MS = 500;
/** Escape sequences, and control characters other than line feeds and tabs. */
const TERMINAL_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes these
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

interface LogsOptions extends ServerOptions {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly offset?: number;
}

export const logs = addServerOptions(
  new WeftCommand("logs")
    .description("Print the log of a run, also while it is running")
    .argument("<run>", "Id of the run")
    .option("-f, --follow", "Continue until the run has finished")
    .addOption(wholeNumber("-n, --tail <lines>", "Number of lines at the end to print").conflicts("offset"))
    .addOption(wholeNumber("--offset <bytes>", "Position of the first byte to print")),
)
  .example("weft logs 018f2c…", "prints the log so far")
  .example("weft logs -f -n 20 018f2c…", "prints the last 20 lines, and then new ones")
  .action(printLog);

async function printLog(id: string, options: LogsOptions): Promise<void> {
  const connection = connect(options);
  const first = options.tail === undefined ? `?offset=${options.offset ?? 0}` : `?tail=${options.tail}`;
  let query = first;
  for (;;) {
    const chunk = await readChunk(connection, id, query);
    if (options.json !== true) terminal.out(chunk.log.replace(TERMINAL_CONTROLS, ""));
    else if (chunk.log !== "" || query === first)
      terminal.out(`${JSON.stringify({ run_id: id, ...chunk })}\n`);
    // The size of a response is limited: read on until one is empty.
    const hasMore = chunk.log !== "" && !query.startsWith("?tail");
    const isFollowed = options.follow === true && !FINISHED.has(chunk.status);
    if (chunk.next_offset === undefined || (!hasMore && !isFollowed)) return;
    query = `?offset=${chunk.next_offset}`;
    if (!hasMore && chunk.log === "") await sleep(POLL_MS);
  }
}

interface LogChunk {
  readonly log: string;
  readonly status: string;
  readonly next_offset?: number;
}

async function readChunk(connection: Connection, id: string, query: string): Promise<LogChunk> {
  try {
    const response = await connection.open(`${runPath(id)}/log${query}`, { accept: "text/plain" });
    const next = response.headers.get("x-next-offset");
    const status = response.headers.get("x-run-status") ?? "";
    const log = await readBody(response, connection.url);
    return { log, status, ...(next === null ? {} : { next_offset: Number(next) }) };
  } catch (error) {
    if (!(error instanceof ErrorResponse) || error.status !== 404 || error.reason !== "Not found")
      throw error;
    // The route does not exist, unlike a run that does not exist: that has another message.
    await readRun(connection, id);
    throw new CommandFailure(
      "This server does not provide logs: it is older than this command.",
      `To see the output of the run's steps: weft runs steps ${id}`,
    );
  }
}
