import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestContext, testContext } from "./test-context.ts";

let context: TestContext;
beforeEach(() => {
  context = testContext();
});
afterEach(() => context.remove());

const ID = "22222222-2222-4222-8222-222222222222";

describe("functions that work on documents", () => {
  it.each([
    ["document_create", ["T"], { of: "new document", title: "T" }, "made", "made"],
    [
      "document_create",
      ["T", "# Text", ` ${ID} `],
      { of: "new document", title: "T", content: "# Text", parent: ID },
      "made",
      "made",
    ],
    ["document_create", ["T", null, ""], { of: "new document", title: "T" }, "made", "made"],
    ["document_read", [ID], { of: "text of document", id: ID }, "text", "text"],
    ["document_append", [ID, "more"], { of: "more text", id: ID, text: "more" }, ID, true],
    ["document_comment", [ID, 7], { of: "new comment", id: ID, text: "7" }, "thread", "thread"],
  ] as const)("%s%j sends its arguments to the host", (name, args, input, answer, result) => {
    context.replies.push({ records: [{ answer }], total: 1 });
    expect(context.call(name, ...args)).toBe(result);
    expect(context.questions).toEqual([{ what: "document", input }]);
  });

  it("throw errors that the script can catch", () => {
    context.replies.push({ error: "You do not have permission to perform this action." });
    expect(() => context.call("document_append", ID, "x")).toThrow(
      "document_append: You do not have permission to perform this action.",
    );
    expect(() => context.call("document_read", ID)).toThrow("document_read: nobody answers");
  });
});
