/** Functions that ask a language model one question; llm steps offer more options. Reference 3, llm. */

import { textOf } from "./argument-values.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { objectOf } from "./record-events.ts";

const group = "llm";
const ROLE = /^(system|user|assistant)\s*:\s*/i;

interface Message {
  readonly role: string;
  readonly content: string;
}

const fromUser = (content: unknown): Message => ({ role: "user", content: textOf(content) });

function ask(
  context: FunctionContext,
  messages: readonly unknown[],
  config: Readonly<Record<string, unknown>> = {},
): unknown {
  if (messages.length === 0) throw new Error("the message is empty");
  return context.ask("llm", { messages, config });
}

/** `role:content`; text without a role is a user message. */
function messageOf(given: unknown): Message {
  const text = textOf(given);
  const role = ROLE.exec(text);
  if (role === null) return fromUser(text);
  return { role: (role[1] ?? "user").toLowerCase(), content: text.slice(role[0].length) };
}

export const languageModelFunctions = {
  llm_invoke: {
    group,
    params: ["message"],
    returns: "string",
    summary: "The response of the configured language model to a message; empty if it fails",
    failure: "",
    run: ([message], context: FunctionContext) => {
      if (textOf(message).trim() === "") throw new Error("the message is empty");
      return ask(context, [fromUser(message)]);
    },
  },
  llm_invoke_custom: {
    group,
    params: ["message", "body_json"],
    returns: "string",
    summary:
      "Same with the fields of llm_config of an llm step (model, temperature …), as an object or JSON text, and with preceding messages",
    example:
      'llm_invoke_custom("Summarize: " + read_file("notes.txt"), { temperature: 0.2, max_tokens: 500 })',
    failure: "",
    run: ([message, body], context: FunctionContext) => {
      const { messages, ...config } = textOf(body) === "" ? {} : objectOf(body);
      const before: readonly unknown[] = Array.isArray(messages) ? messages : [];
      return ask(context, textOf(message) === "" ? before : [...before, fromUser(message)], config);
    },
  },
  llm_conversations: {
    group,
    params: ["first", "second?"],
    returns: "string",
    summary:
      "The response to a conversation: any number of texts as role:content (system, user or assistant)",
    example: 'llm_conversations("system:You are brief.", "user:What is DNS?")',
    failure: "",
    run: (args, context: FunctionContext) =>
      ask(context, args.filter((one) => textOf(one).trim() !== "").map(messageOf)),
  },
} satisfies Record<string, LibraryFunction>;
