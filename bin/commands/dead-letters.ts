import {
  type Arguments,
  type Command,
  CommandFailure,
  type Terminal,
  textFlag,
  UsageError,
} from "../command.ts";
import { type Connection, connect, printable, SERVER_FLAGS } from "../connection.ts";

const PATH = "/automation/dead-letters";
const REDRIVE_PAGE = 100;
const ERROR_CHARS = 100;

interface DeadLetter {
  readonly id: string;
  readonly queue: string;
  readonly error: string;
  readonly received_at: string;
}

interface DeadLetterPage {
  readonly data: readonly DeadLetter[];
  readonly pagination: { readonly total: number };
}

/** `weft dead-letters`: messages that failed at every delivery, and their way back. */
export const deadLetters: Command = {
  name: "dead-letters",
  summary: "Lists messages that failed at every delivery, and sends them again",
  usage: "[list | redrive <id> | redrive --all]",
  actions: {
    list: { takes: "", summary: "The newest first" },
    redrive: { takes: "[id]", summary: "Sends one to its queue again, or all of them" },
  },
  flags: {
    all: { type: "boolean", summary: "redrive: every one that is there now" },
    limit: { type: "string", value: "COUNT", whole: true, summary: "list: most to show (20)" },
    offset: { type: "string", value: "COUNT", whole: true, summary: "list: how many to skip (0)" },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft dead-letters", "the newest, with the reason of each"],
    ["weft dead-letters redrive 0f9d…", "sends one to its queue again"],
    ["weft dead-letters redrive --all", "sends all of them"],
    ["weft dead-letters --json --limit 1000", "for scripts, with the bodies"],
  ],
  run: async (args, terminal) => {
    const [action = "list", id, ...more] = args.positionals;
    if (more.length > 0) throw new UsageError(`'${more[0]}' is one word too many.`);
    if (action === "list") {
      if (id !== undefined) throw new UsageError("list takes no id.");
      if (args.flags.all === true) throw new UsageError("--all goes with redrive.");
      await list(args, terminal);
    } else if (action === "redrive") {
      if ((id === undefined) === (args.flags.all !== true)) {
        throw new UsageError("redrive takes either one id or --all.");
      }
      await redrive(id, args, terminal);
    } else {
      throw new UsageError(`dead-letters cannot '${action}': list or redrive.`);
    }
  },
};

async function list(args: Arguments, terminal: Terminal): Promise<void> {
  const query = new URLSearchParams();
  for (const name of ["limit", "offset"]) {
    const value = textFlag(args, name);
    if (value !== undefined) query.set(name, value);
  }
  const connection = connect(args, terminal);
  const page = await readPage(connection, query);
  if (args.flags.json === true) {
    terminal.out(`${JSON.stringify(page)}\n`);
    return;
  }
  for (const { id, queue, error, received_at } of page.data) {
    terminal.out(
      `${[received_at, id, queue, printable(error).slice(0, ERROR_CHARS)].map(printable).join("  ")}\n`,
    );
  }
  terminal.error(`${page.data.length} of ${page.pagination.total}\n`);
}

async function redrive(id: string | undefined, args: Arguments, terminal: Terminal): Promise<void> {
  const connection = connect(args, terminal);
  const ids = id === undefined ? await allIds(connection) : [id];
  const redriven: string[] = [];
  const failed: { id: string; error: string }[] = [];
  for (const each of ids) {
    try {
      await connection.request("POST", `${PATH}/${encodeURIComponent(each)}/redrive`);
      redriven.push(each);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failed.push({ id: each, error: error.message });
    }
  }
  if (args.flags.json === true) terminal.out(`${JSON.stringify({ redriven, failed })}\n`);
  else terminal.out(redriven.map((each) => `redriven ${each}\n`).join(""));
  if (failed.length > 0) {
    throw new CommandFailure(
      failed.map((failure) => `${printable(failure.id)}: ${failure.error}`).join("\nweft: "),
    );
  }
}

/** Taken together before the first is sent: one that fails again at once is not sent twice. */
async function allIds(connection: Connection): Promise<string[]> {
  const ids = new Set<string>();
  for (let offset = 0; ; offset += REDRIVE_PAGE) {
    const query = new URLSearchParams({ limit: String(REDRIVE_PAGE), offset: String(offset) });
    const page = await readPage(connection, query);
    for (const { id } of page.data) ids.add(id);
    if (page.data.length < REDRIVE_PAGE) return [...ids];
  }
}

async function readPage(connection: Connection, query: URLSearchParams): Promise<DeadLetterPage> {
  const answer = (await connection.request("GET", `${PATH}?${query}`)) as Partial<DeadLetterPage> | undefined;
  if (!Array.isArray(answer?.data))
    throw new CommandFailure("The server's answer is no list of dead letters.");
  return answer as DeadLetterPage;
}
