import type { Schemas } from "../../client/api.ts";
import { WeftCommand } from "../command.ts";
import { type Connection, connect } from "../connection.ts";
import { CommandFailure, UsageError } from "../errors.ts";
import { addPageOptions, addServerOptions, listQuery, type ServerOptions } from "../options.ts";
import { type Page, readPage } from "../responses.ts";
import { printable, terminal } from "../terminal.ts";

const REDRIVE_PAGE_SIZE = 100;
const ERROR_CHARS_MAX = 100;

export const deadLetters = addServerOptions(new WeftCommand("dead-letters"))
  .description("List messages that failed at every delivery, or redrive them to their queue")
  .example("weft dead-letters", "the newest messages and why they failed")
  .example("weft dead-letters redrive 0f9d…", "sends a message to its queue again")
  .example("weft dead-letters redrive --all", "sends all messages again")
  .example("weft dead-letters --json --limit 1000", "for scripts, with the message bodies");

addPageOptions(deadLetters.defaultCommand("list").description("List messages, newest first")).action(
  (_options, command: WeftCommand) => list(command.optsWithGlobals()),
);

deadLetters
  .command("redrive [id]")
  .description("Send a message, or all messages, to their queue again")
  .option("--all", "Redrive all messages")
  .action((id: string | undefined, _options, command: WeftCommand) => redrive(id, command.optsWithGlobals()));

async function list(options: ServerOptions): Promise<void> {
  const page = await readDeadLetters(connect(options), listQuery(options, []));
  if (options.json === true) {
    terminal.out(`${JSON.stringify(page)}\n`);
    return;
  }
  for (const { id, queue, error, received_at } of page.data) {
    const cells = [received_at, id, queue, printable(error).slice(0, ERROR_CHARS_MAX)];
    terminal.out(`${cells.map(printable).join("  ")}\n`);
  }
  terminal.error(`${page.data.length} of ${page.pagination.total}\n`);
}

async function redrive(
  id: string | undefined,
  options: ServerOptions & { readonly all?: boolean },
): Promise<void> {
  if ((id === undefined) === (options.all !== true))
    throw new UsageError("dead-letters redrive requires either an id or --all.");
  const connection = connect(options);
  const ids = id === undefined ? await readAllIds(connection) : [id];
  const redriven: string[] = [];
  const failed: { id: string; error: string }[] = [];
  for (const each of ids) {
    try {
      await connection.api.POST("/automation/dead-letters/{id}/redrive", { params: { path: { id: each } } });
      redriven.push(each);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failed.push({ id: each, error: error.message });
    }
  }
  if (options.json === true) terminal.out(`${JSON.stringify({ redriven, failed })}\n`);
  else terminal.out(redriven.map((each) => `redriven ${each}\n`).join(""));
  if (failed.length > 0)
    throw new CommandFailure(
      failed.map((failure) => `${printable(failure.id)}: ${failure.error}`).join("\nweft: "),
    );
}

const readDeadLetters = (
  { api }: Connection,
  query: { limit?: number; offset?: number },
): Promise<Page<Schemas["DeadLetter"]>> =>
  readPage(api.GET("/automation/dead-letters", { params: { query } }));

/** Reads all ids before the first is redriven, so that a message that fails again is not redriven twice. */
async function readAllIds(connection: Connection): Promise<string[]> {
  const ids = new Set<string>();
  for (let offset = 0; ; offset += REDRIVE_PAGE_SIZE) {
    const { data } = await readDeadLetters(connection, { limit: REDRIVE_PAGE_SIZE, offset });
    for (const { id } of data) ids.add(id);
    if (data.length < REDRIVE_PAGE_SIZE) return [...ids];
  }
}
