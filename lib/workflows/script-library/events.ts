import { isRecord, textOf } from "./argument-values.ts";
import type { FunctionContext, GeneratedEvent, LibraryFunction } from "./library-types.ts";

export const eventParams = ["workspace", "topic", "source", "data_type"];

/** An object, or its JSON text; other values become `{value}`, a missing one `{}`. */
function toData(data: unknown): Readonly<Record<string, unknown>> {
  if (data === undefined || data === null) return {};
  if (isRecord(data)) return data;
  if (typeof data === "string" && data.trimStart().startsWith("{")) {
    try {
      const parsed: unknown = JSON.parse(data);
      if (isRecord(parsed)) return parsed;
    } catch {
      // Text that is not valid JSON is an ordinary value.
    }
  }
  return { value: data };
}

/** Throws if there is no topic. */
export function toEvent(args: readonly unknown[], data: unknown): GeneratedEvent {
  const [workspace, topic, source, dataType] = args.map(textOf);
  if (topic === undefined || topic === "") throw new Error("the topic of the event is required");
  return {
    workspace: workspace ?? "",
    topic,
    source: source ?? "",
    data_type: dataType ?? "",
    data: toData(data),
  };
}

export const eventFunctions = {
  generate_event: {
    group: "event_generation",
    params: [...eventParams, "data"],
    returns: "boolean",
    summary: "Emits an event when the step has ended; data is an object, its JSON text, or a value",
    failure: false,
    run: (args, context: FunctionContext) => {
      context.emitEvent(toEvent(args.slice(0, 4), args[4]));
      return true;
    },
  },
} satisfies Record<string, LibraryFunction>;
