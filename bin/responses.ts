import type { ApiClient } from "../client/api.ts";
import { connect } from "./connection.ts";
import { CommandFailure } from "./errors.ts";
import type { ServerOptions } from "./options.ts";
import { type Column, table } from "./table.ts";
import { terminal } from "./terminal.ts";

export interface Page<Row> {
  readonly data: readonly Row[];
  readonly pagination: { readonly total: number };
}

/** The body of a response that is a page of a list. Throws CommandFailure if it is not one. */
export async function readPage<Row>(response: Promise<{ data?: Page<Row> }>): Promise<Page<Row>> {
  const { data: page } = await response;
  if (!Array.isArray(page?.data)) throw unexpectedResponse("a list");
  return { data: page.data, pagination: page.pagination ?? { total: page.data.length } };
}

/** The `data` of a response's body. Throws CommandFailure if it has none. */
export async function readData<Data>(response: Promise<{ data?: { data: Data } }>): Promise<Data> {
  const { data: body } = await response;
  if (body?.data === undefined) throw unexpectedResponse("a record");
  return body.data;
}

export const unexpectedResponse = (expected: string): CommandFailure =>
  new CommandFailure(
    `The server's response is not ${expected}.`,
    "The server may be of another version; `weft doctor` checks it.",
  );

/** Prints one page of a list and the total, or the response as JSON. */
export async function printList<Row>(
  columns: readonly Column<Row>[],
  options: ServerOptions,
  list: (api: ApiClient) => Promise<{ data?: Page<Row> }>,
): Promise<void> {
  const page = await readPage(list(connect(options).api));
  if (options.json === true) {
    terminal.out(`${JSON.stringify(page)}\n`);
    return;
  }
  if (page.data.length > 0) terminal.out(table(columns, page.data, terminal.width));
  terminal.error(`${page.data.length} of ${page.pagination.total}\n`);
}

/** Prints a response as JSON with `--json`, else the text. */
export function printResponse(response: unknown, text: string, { json }: { json?: boolean }): void {
  terminal.out(json === true ? `${JSON.stringify(response)}\n` : text);
}
