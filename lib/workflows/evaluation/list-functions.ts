import * as z from "zod";
import { compareBy } from "../lists/compare-by.ts";
import { describedByRows, type FunctionEntry, functionEntries } from "../script-library/entries.ts";
// Generated from the library by infra/readme.ts: the library itself is loaded only where scripts are evaluated.
import rows from "./functions.json" with { type: "json" };

/** Created on first use. */
let listed: readonly FunctionEntry[] | undefined;

export const functionEntry = z
  .object({
    name: z.string(),
    signature: z.string().describe("Signature; ? marks optional parameters"),
    aliases: z.array(z.string()).readonly().describe("Aliases of the name"),
    return_type: z.string(),
    description: z.string(),
    example: z.string(),
    tags: z.array(z.string()).readonly().describe("Group of the function"),
    available: z
      .boolean()
      .describe("If false, a call fails because the function is not available in this installation"),
    place: z
      .string()
      .describe(
        "`workspace` if it uses files or commands and so requires the workspace of a run, else `anywhere`",
      ),
  })
  .meta({ id: "Function" });

export const functionList = z
  .object({ functions: z.array(functionEntry), total: z.int().min(0) })
  .meta({ id: "FunctionList" });

export const FUNCTION_ORDERINGS = ["group", "-group", "name", "-name"] as const;

export interface FunctionFilters {
  /** By group, those that are not available last, if it is undefined. */
  readonly ordering?: (typeof FUNCTION_ORDERINGS)[number] | undefined;
  readonly group?: string | undefined;
  readonly search?: string | undefined;
}

/** The functions that scripts may call, in one response. Reference 1.10, GET /functions/list. */
export function listFunctions({
  group,
  search = "",
  ordering = "group",
}: FunctionFilters): z.infer<typeof functionList> {
  const sought = search.toLowerCase();
  listed ??= functionEntries(describedByRows(rows));
  const functions = listed.filter(
    ({ name, description, aliases, tags }) =>
      (group === undefined || tags.includes(group)) &&
      [name, description, ...aliases].some((text) => text.toLowerCase().includes(sought)),
  );
  const byName = ordering.endsWith("name");
  if (byName) functions.sort(compareBy<FunctionEntry>(ordering, ({ name }) => name));
  else if (ordering === "-group") functions.reverse();
  return { functions, total: functions.length };
}
