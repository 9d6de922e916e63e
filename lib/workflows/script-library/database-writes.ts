/** Functions that write a record immediately; other functions write at the end of the step. Reference 3, database. */

import { textOf } from "./argument-values.ts";
import { callHost, type Row } from "./call-host.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { objectOf } from "./record-events.ts";

const group = "database";

/** Returns the id of the record. Throws ScriptError if the host rejects the call. */
function write(context: FunctionContext, query: Row): number {
  return Number(callHost(context, "write", query).records[0]?.id ?? 0);
}

const TABLES: Readonly<Record<string, string>> = {
  asset: "assets",
  assets: "assets",
  vulnerability: "vulnerabilities",
  vulnerabilities: "vulnerabilities",
  vulns: "vulnerabilities",
};

export const databaseWriteFunctions = {
  db_raw_insert_asset: {
    group,
    params: ["workspace", "json"],
    returns: "number",
    summary:
      "Adds or updates an asset immediately, and returns its id: an object or its JSON text, with asset_value, url or host",
    failure: 0,
    run: ([workspace, json], context: FunctionContext) =>
      write(context, { of: "new asset", workspace: textOf(workspace), data: objectOf(json) }),
  },
  db_update: {
    group,
    params: ["table", "key", "field", "value"],
    returns: "boolean",
    summary:
      "Sets a field immediately: of an asset of the run's workspace (assets, its value), or of a vulnerability (vulnerabilities, its id); not a field that identifies the record",
    example: 'db_update("assets", "a.example", "title", "Home")',
    failure: false,
    run: ([table, key, field, value], context: FunctionContext) => {
      const named = textOf(table).trim().toLowerCase();
      const query = { table: Object.hasOwn(TABLES, named) ? TABLES[named] : named, key: textOf(key) };
      return write(context, { of: "new value", ...query, field: textOf(field), value: value ?? "" }) > 0;
    },
  },
} satisfies Record<string, LibraryFunction>;
