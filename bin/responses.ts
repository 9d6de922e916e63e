import { type Connection, connect } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import { queryString, type ServerOptions } from "./options.ts";
import { type Column, table } from "./table.ts";
import { terminal } from "./terminal.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly total: number };
}

/** Reads a page of a list. Throws CommandFailure if the response is not one. */
export async function readPage<Row>(connection: Connection, path: string): Promise<Page<Row>> {
  const response = (await connection.request("GET", path)) as Partial<Page<Row>> | undefined;
  if (!Array.isArray(response?.data)) throw unexpectedResponse("a list");
  const { data, pagination } = response as Page<Row>;
  return { data, pagination: pagination ?? { total: data.length } };
}

/** Reads the `data` of a response. Throws CommandFailure if it has none. */
export async function readData<Data>(connection: Connection, path: string): Promise<Data> {
  const response = (await connection.request("GET", path)) as { data?: Data } | undefined;
  if (response?.data === undefined) throw unexpectedResponse("a record");
  return response.data;
}

export const unexpectedResponse = (expected: string): CommandFailure =>
  new CommandFailure(
    `The server's response is not ${expected}.`,
    "The server may be of another version; `weft doctor` checks it.",
  );

/** Prints one page of a list and the total, or the response as JSON. */
export async function printList<Row>(
  list: {
    readonly path: string;
    /** Options that the server filters by. */
    readonly filters: readonly string[];
    readonly columns: readonly Column<Row>[];
  },
  options: ServerOptions,
): Promise<void> {
  const query = queryString(options, [...list.filters, "limit", "offset"]);
  const page = await readPage<Row>(connect(options), `${list.path}${query}`);
  if (options.json === true) {
    terminal.out(`${JSON.stringify(page)}\n`);
    return;
  }
  if (page.data.length > 0) terminal.out(table(list.columns, page.data, terminal.width));
  terminal.error(`${page.data.length} of ${page.pagination.total}\n`);
}

/** Prints a response as JSON with `--json`, else the text. */
export function printResponse(response: unknown, text: string, { json }: { json?: boolean }): void {
  terminal.out(json === true ? `${JSON.stringify(response)}\n` : text);
}
