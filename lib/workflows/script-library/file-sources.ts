/** Functions of other groups that read their input from a file. */
import { eventParams, toEvent } from "./events.ts";
import { linesOf, readText } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { firstResult, prepare } from "./query.ts";

export const fileSourceFunctions = {
  jq_from_file: {
    group: "data_query",
    params: ["path", "query"],
    returns: "any",
    summary: "Same as jq, for a file of up to 10 MiB",
    failure: "",
    prepare,
    run: ([path, query], context: FunctionContext) => firstResult(readText(path, context), query),
  },
  generate_event_from_file: {
    group: "event_generation",
    params: [...eventParams, "path"],
    returns: "number",
    summary: "Emits an event for each non-blank line of the file; returns their number",
    failure: 0,
    run: (args, context: FunctionContext) => {
      let count = 0;
      for (const line of linesOf(args[4], context)) {
        if (line.trim() === "") continue;
        context.emitEvent(toEvent(args.slice(0, 4), line.trim()));
        count += 1;
      }
      return count;
    },
  },
} satisfies Record<string, LibraryFunction>;
