import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import { WeftCommand } from "../command.ts";
import { type Connection, connect } from "../connection.ts";
import { addServerOptions, choice, queryString, type ServerOptions, wholeNumber } from "../options.ts";
import { printList, readPage } from "../responses.ts";
import { type Column, formatTime, table } from "../table.ts";
import { terminal } from "../terminal.ts";

const EVENTS = "/automation/event-logs";
const FILTERS = ["topic", "name", "source", "workspace", "runId", "workflowName", "processed"] as const;
const POLL_MS = 500;
const PAGE_SIZE = 100;
/** Older events are skipped if more pages than this arrive between two polls. */
const PAGES_PER_POLL_MAX = 50;
const REMEMBERED_IDS_MAX = 10_000;

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
  { header: "ID", value: ({ id }) => String(id), align: "right" },
  { header: "AT", value: ({ created_at }) => formatTime(created_at) },
  { header: "TOPIC", value: ({ topic }) => topic },
  { header: "NAME", value: ({ name }) => name, canShrink: true },
  { header: "SOURCE", value: ({ source }) => source, canShrink: true },
  { header: "DATA", value: ({ error, data }) => error || data, canShrink: true },
];

interface EventsOptions extends ServerOptions {
  readonly follow?: boolean;
  readonly limit?: number;
}

export const events = addServerOptions(
  new WeftCommand("events")
    .description("List the event log, newest first, or follow it")
    .addOption(new Option("-f, --follow", "Print new events until Ctrl-C").conflicts("offset"))
    .option("--topic <topic>", "Events with this topic")
    .option("--name <name>", "Events with this name")
    .option("--source <name>", "Events from this source")
    .option("-w, --workspace <name>", "Events of this workspace")
    .option("--run-id <run>", "Events of this run")
    .option("--workflow-name <name>", "Events of this workflow")
    .addOption(choice("--processed <boolean>", "Whether workflows have handled them", ["true", "false"]))
    .addOption(
      wholeNumber("--limit <count>", "Maximum number to show (default: 20; with -f, earlier events: 0)"),
    )
    .addOption(wholeNumber("--offset <count>", "Number to skip (default: 0)")),
)
  .example("weft events --topic run.failed --limit 5", "the last five events of a topic")
  .example("weft events -f --json | jq -r .topic", "a line for each new event")
  .action((options: EventsOptions) =>
    options.follow === true
      ? follow(connect(options), options)
      : printList<EventRecord>({ path: EVENTS, filters: FILTERS, columns: COLUMNS }, options),
  );

/** Prints new events until the process ends. */
async function follow(connection: Connection, options: EventsOptions): Promise<void> {
  const printedIds = new Set<string>();
  for (const { event_id } of await readNew(connection, options, printedIds, 1)) printedIds.add(event_id);
  if ((options.limit ?? 0) > 0) {
    const path = `${EVENTS}${queryString(options, [...FILTERS, "limit"])}`;
    const { data } = await readPage<EventRecord>(connection, path);
    printEvents(data.toReversed(), options);
  }
  for (;;) {
    await sleep(POLL_MS);
    const found = await readNew(connection, options, printedIds, PAGES_PER_POLL_MAX);
    for (const { event_id } of found) printedIds.add(event_id);
    printEvents(found.toReversed(), options);
    for (const id of printedIds) {
      if (printedIds.size <= REMEMBERED_IDS_MAX) break;
      printedIds.delete(id);
    }
  }
}

/** Reads the events that have not been printed, newest first. */
async function readNew(
  connection: Connection,
  options: EventsOptions,
  printedIds: ReadonlySet<string>,
  maxPages: number,
): Promise<EventRecord[]> {
  const query = new URLSearchParams(queryString(options, FILTERS));
  const found: EventRecord[] = [];
  for (let page = 0; page < maxPages; page += 1) {
    query.set("limit", String(PAGE_SIZE));
    query.set("offset", String(page * PAGE_SIZE));
    const { data } = await readPage<EventRecord>(connection, `${EVENTS}?${query}`);
    const unseen = data.filter(
      ({ event_id }) => !printedIds.has(event_id) && !found.some((event) => event.event_id === event_id),
    );
    found.push(...unseen);
    if (unseen.length < data.length || data.length < PAGE_SIZE) break;
  }
  return found;
}

function printEvents(found: readonly EventRecord[], { json }: EventsOptions): void {
  if (json === true) {
    for (const event of found) terminal.out(`${JSON.stringify(event)}\n`);
  } else if (found.length > 0) {
    const [, ...lines] = table(COLUMNS, found, terminal.width).split("\n");
    terminal.out(lines.join("\n"));
  }
}
