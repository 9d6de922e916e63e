import { setTimeout as wait } from "node:timers/promises";
import { type Arguments, type Command, type Terminal, textFlag, UsageError } from "../command.ts";
import { type Connection, connect, SERVER_FLAGS } from "../connection.ts";
import { queryOf } from "../flags.ts";
import { printList, readPage } from "../pages.ts";
import { type Column, moment, table } from "../table.ts";

const EVENTS = "/automation/event-logs";
const FILTERS = ["topic", "name", "source", "workspace", "run-id", "workflow-name", "processed"] as const;
const POLL_MS = 500;
const FOLLOWED_PAGE = 100;
/** More at once than this are not caught up with, pages. */
const FOLLOWED_PAGES_MAX = 50;
const REMEMBERED = 10_000;

interface EventRecord {
  readonly id: number;
  readonly event_id: string;
  readonly topic: string;
  readonly name: string;
  readonly source: string;
  readonly workspace: string;
  readonly workflow_name: string;
  readonly data: string;
  readonly processed: boolean;
  readonly error: string;
  readonly created_at: string;
}

const COLUMNS: readonly Column<EventRecord>[] = [
  { head: "ID", text: ({ id }) => String(id), right: true },
  { head: "AT", text: ({ created_at }) => moment(created_at) },
  { head: "TOPIC", text: ({ topic }) => topic },
  { head: "NAME", text: ({ name }) => name, cut: true },
  { head: "SOURCE", text: ({ source }) => source, cut: true },
  { head: "DATA", text: ({ error, data }) => error || data, cut: true },
];

/** `weft events`: the event log. */
export const events: Command = {
  name: "events",
  summary: "Lists the event log, newest first, or follows it",
  usage: "[-f] [--topic TOPIC] [filters]",
  flags: {
    follow: { type: "boolean", short: "f", summary: "Print what comes, until Ctrl-C" },
    topic: { type: "string", value: "TOPIC", summary: "Of one topic" },
    name: { type: "string", value: "NAME", summary: "Of one name" },
    source: { type: "string", value: "NAME", summary: "Of one source" },
    workspace: { type: "string", short: "w", value: "NAME", summary: "Of one workspace" },
    "run-id": { type: "string", value: "RUN", summary: "Of one run" },
    "workflow-name": { type: "string", value: "NAME", summary: "Of one workflow" },
    processed: { type: "string", value: "BOOLEAN", summary: "true or false", choices: ["true", "false"] },
    limit: {
      type: "string",
      value: "COUNT",
      whole: true,
      summary: "Most to show (20); with -f, those before (0)",
    },
    offset: { type: "string", value: "COUNT", whole: true, summary: "How many to skip (0)" },
    ...SERVER_FLAGS,
  },
  examples: [
    ["weft events --topic run.failed --limit 5", "the last five"],
    ["weft events -f --json | jq -r .topic", "a line for each event that comes"],
  ],
  run: async (args, terminal) => {
    if (args.positionals.length > 0) throw new UsageError(`'${args.positionals[0]}' is one word too many.`);
    const connection = connect(args, terminal);
    if (args.flags.follow === true) await follow(connection, args, terminal);
    else await printList(connection, { path: EVENTS, filters: FILTERS, columns: COLUMNS }, args, terminal);
  },
};

/** Ends with the process. */
async function follow(connection: Connection, args: Arguments, terminal: Terminal): Promise<void> {
  if (args.flags.offset !== undefined) throw new UsageError("--offset does not go with --follow.");
  const before = Number(textFlag(args, "limit") ?? 0);
  const told = new Set<string>();
  for (const { event_id } of await readNewest(connection, args, told, 1)) told.add(event_id);
  if (before > 0) {
    const query = new URLSearchParams(queryOf(args, [...FILTERS, "limit"]));
    const { data } = await readPage<EventRecord>(connection, `${EVENTS}?${query}`);
    print(data.toReversed(), args, terminal);
  }
  for (;;) {
    await wait(POLL_MS);
    const found = await readNewest(connection, args, told, FOLLOWED_PAGES_MAX);
    for (const { event_id } of found) told.add(event_id);
    print(found.toReversed(), args, terminal);
    for (const id of told) {
      if (told.size <= REMEMBERED) break;
      told.delete(id);
    }
  }
}

/** Events that were not told of yet, newest first. */
async function readNewest(
  connection: Connection,
  args: Arguments,
  told: ReadonlySet<string>,
  pages: number,
): Promise<EventRecord[]> {
  const query = new URLSearchParams(queryOf(args, FILTERS));
  const found: EventRecord[] = [];
  for (let page = 0; page < pages; page += 1) {
    query.set("limit", String(FOLLOWED_PAGE));
    query.set("offset", String(page * FOLLOWED_PAGE));
    const { data } = await readPage<EventRecord>(connection, `${EVENTS}?${query}`);
    const fresh = data.filter(
      ({ event_id }) => !told.has(event_id) && !found.some((one) => one.event_id === event_id),
    );
    found.push(...fresh);
    if (fresh.length < data.length || data.length < FOLLOWED_PAGE) break;
  }
  return found;
}

function print(found: readonly EventRecord[], args: Arguments, terminal: Terminal): void {
  if (args.flags.json === true) {
    for (const event of found) terminal.out(`${JSON.stringify(event)}\n`);
  } else if (found.length > 0) {
    const [, ...lines] = table(COLUMNS, found, terminal.width).split("\n");
    terminal.out(lines.join("\n"));
  }
}
