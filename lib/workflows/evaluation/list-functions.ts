import * as z from "zod";
import { describedByRows, type FunctionEntry, functionEntries } from "../script-library/entries.ts";
// Generated from the library by infra/readme.ts: the library itself is loaded only where scripts are evaluated.
import rows from "./functions.json" with { type: "json" };

/** Created on first use. */
let listed: readonly FunctionEntry[] | undefined;

export const functionEntry = z
  .object({
    name: z.string(),
    signature: z.string().describe("With its parameters; ? marks those that may be left out"),
    aliases: z.array(z.string()).readonly().describe("Further spellings of the name"),
    return_type: z.string(),
    description: z.string(),
    example: z.string(),
    tags: z.array(z.string()).readonly().describe("Its group"),
    available: z.boolean().describe("False: a call says that this installation cannot do it"),
    place: z
      .string()
      .describe(
        "workspace: it touches files or starts commands, and so needs the workspace of a run; or anywhere",
      ),
  })
  .meta({ id: "Function" });

export const functionList = z
  .object({ functions: z.array(functionEntry), total: z.int().min(0) })
  .meta({ id: "FunctionList" });

export interface FunctionFilters {
  readonly group?: string | undefined;
  readonly search?: string | undefined;
}

/** The functions that scripts may call, by group, in one response. Reference 1.10, GET /functions/list. */
export function listFunctions({ group, search = "" }: FunctionFilters): z.infer<typeof functionList> {
  const sought = search.toLowerCase();
  listed ??= functionEntries(describedByRows(rows));
  const functions = listed.filter(
    ({ name, description, aliases, tags }) =>
      (group === undefined || tags.includes(group)) &&
      [name, description, ...aliases].some((text) => text.toLowerCase().includes(sought)),
  );
  return { functions, total: functions.length };
}
