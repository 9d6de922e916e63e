import { Option } from "commander";
import type { Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { type Connection, connect } from "../connection.ts";
import { readStream } from "../event-stream.ts";
import { addServerOptions, choice, listQuery, queryOf, type ServerOptions, wholeNumber } from "../options.ts";
import { printList } from "../responses.ts";
import { type Column, formatTime, table } from "../table.ts";
import { terminal } from "../terminal.ts";

const FILTERS = ["topic", "name", "source", "workspace", "runId", "workflowName", "processed"] as const;

type EventRecord = Schemas["EventLogRecord"];

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
      wholeNumber(
        "--limit <count>",
        "Maximum number to show (default: 20; with -f, earlier events: 0, at most 1000)",
      ),
    )
    .addOption(wholeNumber("--offset <count>", "Number to skip (default: 0)")),
)
  .example("weft events --topic run.failed --limit 5", "the last five events of a topic")
  .example("weft events -f --json | jq -r .topic", "a line for each new event")
  .action((options: EventsOptions) =>
    options.follow === true
      ? follow(connect(options), options)
      : printList(COLUMNS, options, (api) =>
          api.GET("/automation/event-logs", { params: { query: listQuery<object>(options, FILTERS) } }),
        ),
  );

/** Prints new events until the process ends. */
async function follow(connection: Connection, options: EventsOptions): Promise<void> {
  const parameters = queryOf<Record<string, string>>({ ...options, last: options.limit }, [
    ...FILTERS,
    "last",
  ]);
  const path = `/automation/event-logs/stream?${new URLSearchParams(parameters)}`;
  const onLost = (error: Error): void => terminal.error(`${error.message} Trying again.\n`);
  for await (const { name, data } of readStream(connection, path, { onLost })) {
    if (name === "event") printEvent(data as EventRecord, options);
    else if (name === "removed")
      terminal.error("Events that were not printed have been removed by retention.\n");
  }
}

function printEvent(event: EventRecord, { json }: EventsOptions): void {
  if (json === true) terminal.out(`${JSON.stringify(event)}\n`);
  else terminal.out(table(COLUMNS, [event], terminal.width).split("\n").slice(1).join("\n"));
}
