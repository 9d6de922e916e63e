/** Functions that work on documents, as the user that the installation configures for workflows. */

import { textOf } from "./argument-values.ts";
import { callHost, type Row } from "./call-host.ts";
import { type FunctionContext, type LibraryFunction, ScriptError } from "./library-types.ts";

const group = "documents";

/** Throws if the host rejects the call: a failure value would hide that nothing was written. */
function ask(context: FunctionContext, name: string, query: Row): string {
  try {
    return textOf(callHost(context, "document", query).records[0]?.answer);
  } catch (thrown) {
    throw new ScriptError(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}

const idOf = (value: unknown): string => textOf(value).trim();

export const documentFunctions = {
  document_create: {
    group,
    params: ["title", "content?", "parent?"],
    returns: "string",
    summary:
      "Creates a document, optionally below another, and returns its id; retries of the step return the same document",
    example: 'document_create("Report", read_file("report.md"), parent)',
    run: ([title, content, parent], context: FunctionContext) =>
      ask(context, "document_create", {
        of: "new document",
        title: textOf(title),
        ...(textOf(content) === "" ? {} : { content: textOf(content) }),
        ...(idOf(parent) === "" ? {} : { parent: idOf(parent) }),
      }),
  },
  document_read: {
    group,
    params: ["id"],
    returns: "string",
    summary: "The text of a document",
    run: ([id], context: FunctionContext) =>
      ask(context, "document_read", { of: "text of document", id: idOf(id) }),
  },
  document_append: {
    group,
    params: ["id", "text"],
    returns: "boolean",
    summary: "Appends a line of text to a document",
    run: ([id, text], context: FunctionContext) =>
      ask(context, "document_append", { of: "more text", id: idOf(id), text: textOf(text) }) !== "",
  },
  document_comment: {
    group,
    params: ["id", "text"],
    returns: "string",
    summary:
      "Creates a comment thread on a document, with a paragraph per line, and returns the thread's id; retries of the step return the same thread",
    run: ([id, text], context: FunctionContext) =>
      ask(context, "document_comment", { of: "new comment", id: idOf(id), text: textOf(text) }),
  },
} satisfies Record<string, LibraryFunction>;
