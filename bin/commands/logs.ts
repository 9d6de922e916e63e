import { setTimeout as wait } from "node:timers/promises";
import {
  type Arguments,
  type Command,
  CommandFailure,
  type Terminal,
  textFlag,
  UsageError,
} from "../command.ts";
import { type Connection, connect, Refused, SERVER_FLAGS, textOf } from "../connection.ts";
import { readData } from "../pages.ts";
import { OVER, type RunRecord, runPath } from "../run-progress.ts";

const POLL_MS = 500;
/** Escape sequences of terminals, and control characters other than line breaks and tabs. */
const TERMINAL_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is about these
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** `weft logs`: what the steps of a run wrote. */
export const logs: Command = {
  name: "logs",
  summary: "Prints the log of a run, also while it runs",
  usage: "<run> [-f] [--tail LINES | --offset BYTES]",
  flags: {
    follow: { type: "boolean", short: "f", summary: "Go on until the run is over" },
    tail: { type: "string", short: "n", value: "LINES", whole: true, summary: "So many of the last lines" },
    offset: { type: "string", value: "BYTES", whole: true, summary: "From this byte on" },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft logs 018f2c…", "all of it so far"],
    ["weft logs -f -n 20 018f2c…", "the last 20 lines, and then what comes"],
  ],
  run: async (args, terminal) => {
    const [id, ...more] = args.positionals;
    if (id === undefined) throw new UsageError("logs takes the id of a run.");
    if (more.length > 0) throw new UsageError(`'${more[0]}' is one word too many.`);
    const tail = textFlag(args, "tail");
    const offset = textFlag(args, "offset");
    if (tail !== undefined && offset !== undefined)
      throw new UsageError("--tail and --offset exclude each other.");
    const connection = connect(args, terminal);
    const query = tail === undefined ? `?offset=${offset ?? 0}` : `?tail=${tail}`;
    await printLog(connection, { id, query, follow: args.flags.follow === true }, args, terminal);
  },
};

interface Asked {
  readonly id: string;
  readonly query: string;
  readonly follow: boolean;
}

async function printLog(
  connection: Connection,
  { id, query: first, follow }: Asked,
  args: Arguments,
  terminal: Terminal,
): Promise<void> {
  const json = args.flags.json === true;
  let query = first;
  for (;;) {
    const part = await readPart(connection, id, query);
    if (json && (part.log !== "" || query === first))
      terminal.out(`${JSON.stringify({ run_id: id, ...part })}\n`);
    if (!json) terminal.out(part.log.replace(TERMINAL_CONTROLS, ""));
    // A part has an end of its own: what is left is asked for until nothing more comes.
    const more = part.log !== "" && !query.startsWith("?tail");
    if (part.next_offset === undefined || (!more && (!follow || OVER.has(part.status)))) return;
    query = `?offset=${part.next_offset}`;
    if (!more && part.log === "") await wait(POLL_MS);
  }
}

interface Part {
  readonly log: string;
  readonly status: string;
  readonly next_offset?: number;
}

async function readPart(connection: Connection, id: string, query: string): Promise<Part> {
  try {
    const response = await connection.open("GET", `${runPath(id)}/log${query}`, { accept: "text/plain" });
    const next = response.headers.get("x-next-offset");
    const status = response.headers.get("x-run-status") ?? "";
    const log = await textOf(response, connection.url);
    return { log, status, ...(next === null ? {} : { next_offset: Number(next) }) };
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404 || error.reason !== "Not found") throw error;
    // The path is unknown there, not the run, unless the next line says otherwise.
    await readData<RunRecord>(connection, runPath(id));
    throw new CommandFailure(
      "This server has no logs of runs: it is older than this command.",
      `What steps wrote: weft runs steps ${id}`,
    );
  }
}
