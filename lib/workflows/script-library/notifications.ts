/** Functions that send messages to people and other services. Reference 3, notification. */

import { isRecord, textOf } from "./argument-values.ts";
import { type FunctionContext, type LibraryFunction, ScriptError } from "./library-types.ts";

const group = "notification";
const TEXT_MAX_CHARS = 100_000;

function send(context: FunctionContext, notice: Readonly<Record<string, unknown>>): boolean {
  if (JSON.stringify(notice).length > TEXT_MAX_CHARS)
    throw new ScriptError(`the text must have at most ${TEXT_MAX_CHARS} characters`);
  return context.ask("notify", notice) === true;
}

/** Parses JSON text; returns other values unchanged. */
function dataOf(data: unknown): unknown {
  if (typeof data !== "string" || !/^\s*[[{]/.test(data)) return data ?? null;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}

export const notificationFunctions = {
  notify_webhook: {
    group,
    params: ["message"],
    returns: "boolean",
    summary:
      "Sends a text to every webhook of the secret NOTIFY_WEBHOOKS, as the field text of a JSON object",
    failure: false,
    run: ([message], context: FunctionContext) =>
      send(context, { event: "notification", text: textOf(message) }),
  },
  send_webhook_event: {
    group,
    params: ["event_type", "data"],
    returns: "boolean",
    summary: "Sends an event with data, an object or JSON text, to every webhook of NOTIFY_WEBHOOKS",
    failure: false,
    run: ([type, data], context: FunctionContext) => {
      const event = textOf(type).trim();
      if (event === "") throw new Error("the type of the event is required");
      const given = dataOf(data);
      const text = isRecord(given) && typeof given.message === "string" ? given.message : event;
      return send(context, { event, text, data: given });
    },
  },
} satisfies Record<string, LibraryFunction>;
