import { type Arguments, CommandFailure, type Terminal } from "./command.ts";
import type { Connection } from "./connection.ts";
import { queryOf } from "./flags.ts";
import { type Column, table } from "./table.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly total: number };
}

/** A list of the server's. Throws CommandFailure where the answer is none. */
export async function readPage<Row>(connection: Connection, path: string): Promise<Page<Row>> {
  const answer = (await connection.request("GET", path)) as Partial<Page<Row>> | undefined;
  if (!Array.isArray(answer?.data)) throw new CommandFailure("The server's answer is no list.");
  const { data, pagination } = answer as Page<Row>;
  return { data, pagination: pagination ?? { total: data.length } };
}

/** The `data` of an answer. Throws CommandFailure where there is none. */
export async function readData<Data>(connection: Connection, path: string): Promise<Data> {
  const answer = (await connection.request("GET", path)) as { data?: Data } | undefined;
  if (answer?.data === undefined)
    throw new CommandFailure("The server's answer is not what this version knows.");
  return answer.data;
}

/** Prints a list of the server's: a table, and how many there are in all; or JSON. */
export async function printList<Row>(
  connection: Connection,
  list: {
    readonly path: string;
    /** Flags that are its filters. */
    readonly filters: readonly string[];
    readonly columns: readonly Column<Row>[];
  },
  args: Arguments,
  terminal: Terminal,
): Promise<void> {
  const query = queryOf(args, [...list.filters, "limit", "offset"]);
  const page = await readPage<Row>(connection, `${list.path}${query}`);
  if (args.flags.json === true) {
    terminal.out(`${JSON.stringify(page)}\n`);
    return;
  }
  if (page.data.length > 0) terminal.out(table(list.columns, page.data, terminal.width));
  terminal.error(`${page.data.length} of ${page.pagination.total}\n`);
}

/** Prints what the server answered: as JSON, or as the text for people. */
export function printAnswer(answer: unknown, text: string, args: Arguments, terminal: Terminal): void {
  terminal.out(args.flags.json === true ? `${JSON.stringify(answer)}\n` : text);
}
