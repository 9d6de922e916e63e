import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { documentCallHandler } from "../../app/compose.ts";
import { ApiError } from "../../errors.ts";
import { eventKey, eventLogTable } from "../../events/log/table.ts";
import type { CallHost } from "../../platform/scripts.ts";
import { type TestDeps, type TestDepsOptions, testDeps } from "../../testing/test-deps.ts";
import { readLog, storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun } from "../../workflows/runs/read.ts";
import { startRun } from "../../workflows/runs/start.ts";
import { runKey, runsTable } from "../../workflows/runs/table.ts";
import type { HandleDocumentCall } from "../../workflows/script-api/document-calls.ts";
import { handleScriptCall } from "../../workflows/script-api/handle-script-call.ts";
import { handleHostCall } from "../../workflows/steps/host-calls.ts";
import { ROLES, type Role } from "../access/roles.ts";
import { readContent } from "../content/read.ts";
import type { ContentAccess } from "../content/text-access.ts";
import { planInitialAccess } from "../grants/grants.ts";
import { createChild, createDocument } from "../records/create.ts";
import { deleteDocument } from "../records/delete.ts";
import { readDocument } from "../records/read.ts";
import { listThreads } from "../threads/read.ts";
import { childIds } from "../tree/children.ts";
import { createToken } from "../users/tokens.ts";
import { getOrCreateOwner, getUser } from "../users/users.ts";
import { handleDocumentCall } from "./handle-document-call.ts";

let open: TestDeps;
afterEach(() => open.close());

type Answer = { records?: { answer: string }[]; error?: string };
type Asked = Readonly<Record<string, unknown>>;
const stop = new AbortController().signal;
const NOWHERE = "11111111-1111-4111-8111-111111111111";

/** Contents in memory. */
function contentOf(): ContentAccess & { readonly texts: Map<string, string>; readonly writers: string[] } {
  const texts = new Map<string, string>();
  const writers: string[] = [];
  return {
    texts,
    writers,
    read: async (id) => texts.get(id),
    append: async (user, id, text, { ifNone = false, cause }) => {
      expect(cause.hop).toBe(1);
      const was = texts.get(id);
      if (ifNone && was !== undefined) throw new ApiError("conflict", "It was changed meanwhile");
      texts.set(id, was === undefined || was.endsWith("\n") ? `${was ?? ""}${text}` : `${was}\n${text}`);
      writers.push(user.id);
    },
  };
}

/** A run of one function step, whose script is `work`. */
async function run(
  work: (ask: (question: Asked) => Promise<Answer>) => Promise<unknown>,
  options: TestDepsOptions & { readonly content?: ContentAccess; readonly retry?: string } = {},
): Promise<string> {
  const { content, retry = "", ...more } = options;
  open = await testDeps({
    ...more,
    script: async ({ callHost: ask }) => ({
      value:
        (await work(async (question) => (await (ask as CallHost)("document", question, stop)) as Answer)) ??
        null,
    }),
  });
  if (content !== undefined) {
    const answer: HandleDocumentCall = (question, by) =>
      handleDocumentCall({ ...open.deps, documentContent: content }, question, by);
    const deps = { ...open.deps, handleDocumentCall: answer };
    Object.assign(open.deps, {
      handleDocumentCall: answer,
      handleScriptCall: (runId: string, query: unknown) => handleScriptCall(deps, runId, query),
    });
  }
  await storeWorkflow(open.deps, `name: w\nsteps:\n  - {name: s, type: function, function: "x()"${retry}}\n`);
  return (await startRun(open.deps, { module: "w", target: "t" })).run_id;
}

const answerOf = (answer: Answer | undefined): string =>
  answer?.records?.[0]?.answer ?? `error: ${answer?.error}`;
const boss = () => getOrCreateOwner(open.deps, "owner@weft.local");
const root = async (title = "Runbooks") =>
  (await createDocument(open.deps, await boss(), { title })).document.id;

/** The responses to a script's host calls, in order. */
async function answers(
  questions: (root: string) => readonly Asked[],
  options: Parameters<typeof run>[1] = {},
  before: (root: string) => Promise<unknown> = async () => undefined,
): Promise<string[]> {
  const said: string[] = [];
  let at = "";
  const runId = await run(async (ask) => {
    for (const question of questions(at)) said.push(answerOf(await ask(question)));
  }, options);
  at = await root();
  await before(at);
  await open.drain();
  expect((await getRun(open.deps, runId)).status).toBe("completed");
  return said;
}

describe("a document that a script creates", () => {
  it("has the given parent, and its event has the id of the run and a hop one higher", async () => {
    const [made = "", single = ""] = await answers((parent) => [
      { of: "new document", title: "Report", parent },
      { of: "new document", title: "By itself" },
    ]);
    const { document, ancestors, role } = await readDocument(open.deps, await boss(), made);
    expect(document).toMatchObject({ title: "Report", numchild: 0 });
    expect([ancestors.map(({ title }) => title), role]).toEqual([["Runbooks"], "owner"]);
    expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect((await readDocument(open.deps, await boss(), single)).document.parent).toBe(null);
    const { records } = await readLog(open.deps);
    const told = records.find(({ data }) => data?.includes(made) === true);
    expect(told).toMatchObject({ topic: "documents.created", source: "documents", workflow_name: "w" });
    expect(told?.run_id).not.toBe("");
  });

  it("is created once per call and with its text, even if the step is retried", async () => {
    let times = 0;
    const content = contentOf();
    const seen = new Set<string>();
    const retry = ", retry: {max_attempts: 3, delay: 1s}";
    const runId = await run(
      async (ask) => {
        times += 1;
        for (const title of ["first", "second"])
          seen.add(answerOf(await ask({ of: "new document", title, content: `# ${title}` })));
        if (times < 3) throw new Error("not yet");
      },
      { content, retry },
    );
    for (let round = 0; round < 4; round += 1) {
      await open.drain();
      open.clock.advance(2_000);
      await open.tick();
    }
    expect([times, (await getRun(open.deps, runId)).status]).toEqual([3, "completed"]);
    expect([...seen].map((id) => content.texts.get(id))).toEqual(["# first", "# second"]);
    expect(content.writers).toHaveLength(2);
  });

  it("is the same through the conductor without tables, and for duplicate concurrent messages", async () => {
    const runId = await run(async () => undefined);
    const parent = await root();
    // The step itself is not executed: the run would end with it.
    await open.drain(["function"]);
    const question = { of: "new document", title: "Once", parent };
    const ask = (number: number, deps: object) => {
      const request = { key: "s", phase: "run", dispatch: number, attempt: number };
      const attempt = { deps: { ...open.deps, ...deps }, run: { run_id: runId }, request, number };
      return handleHostCall(attempt as never, "document", question, stop, "1.1") as Promise<Answer>;
    };
    const asked = [
      ask(1, { handleScriptCall: undefined }),
      ask(2, {}),
      ask(3, { handleScriptCall: undefined }),
      ask(4, {}),
    ];
    await open.drain(["function"]);
    const ids = new Set((await Promise.all(asked)).map(answerOf));
    expect(ids.size).toBe(1);
    expect(await childIds(open.deps, parent, 10)).toEqual([...ids]);
  });

  it("contains no secrets", async () => {
    const content = contentOf();
    await run(
      async (ask) => {
        await writeFile(join(open.folder, "secrets.env"), "KEY=hunter-22-hunter\n", { mode: 0o600 });
        await open.deps.secrets.get("KEY");
        await ask({ of: "new document", title: "hunter-22-hunter", content: "it is hunter-22-hunter" });
      },
      { content },
    );
    await open.drain();
    const { records } = await readLog(open.deps);
    expect(content.texts.size).toBe(1);
    expect(JSON.stringify([records, [...content.texts]])).not.toContain("hunter-22");
  });
});

describe("text and comments of a script", () => {
  it("are read and added", async () => {
    const content = contentOf();
    const said = await answers(
      (id) => [
        { of: "text of document", id },
        { of: "more text", id, text: "one" },
        { of: "more text", id, text: "two\n" },
        { of: "more text", id, text: "three" },
        { of: "text of document", id: id.toUpperCase() },
        { of: "new comment", id, text: "Looks\n\nfine" },
      ],
      { content },
    );
    expect([said[0], said[4]]).toEqual(["", "one\ntwo\nthree"]);
    const threads = await listThreads(open.deps, await boss(), said[1] ?? "");
    const line = (text: string) => ({ type: "paragraph", content: [{ type: "text", text, styles: {} }] });
    expect(threads).toMatchObject([
      {
        id: said[5],
        comments: [{ body: [line("Looks"), { type: "paragraph", content: [] }, line("fine")] }],
      },
    ]);
  });

  it("are added once per call, and keep concurrent changes of others", async () => {
    const content = contentOf();
    const runId = await run(async () => undefined);
    const id = await root();
    const { run_id, workflow_name } = await getStored(runId);
    const by = { call: NOWHERE, cause: { run_id, workflow_name, hop: 1 } };
    let tries = 0;
    const busy: ContentAccess = {
      ...content,
      append: async (user, document, ...how) => {
        tries += 1;
        if (tries > 3) return content.append(user, document, ...how);
        content.texts.set(document, `${content.texts.get(document) ?? ""}${tries}\n`);
        throw new ApiError("conflict", "It was changed meanwhile");
      },
    };
    const deps = { ...open.deps, documentContent: busy };
    for (const _time of ["first", "again"]) {
      await handleDocumentCall(deps, { of: "more text", id, text: "mine" }, by);
      await handleDocumentCall(deps, { of: "new comment", id, text: "mine" }, by);
    }
    expect(content.texts.get(id)).toBe("1\n2\n3\nmine");
    expect(await listThreads(open.deps, await boss(), id)).toHaveLength(1);
    tries = Number.NEGATIVE_INFINITY;
    const again = handleDocumentCall(deps, { of: "more text", id, text: "x" }, { ...by, call: id });
    await expect(again).rejects.toThrow("changed meanwhile");
  });

  it("are those that clients read and save, and emit events with their hops", async () => {
    const said = await answers((parent) => [
      { of: "new document", title: "T", content: "one", parent },
      { of: "text of document", id: parent },
      { of: "more text", id: parent, text: "x" },
      { of: "more text", id: parent, text: "y" },
      { of: "text of document", id: parent },
    ]);
    expect([said[1], said[4]]).toEqual(["", "x\ny"]);
    const user = await boss();
    const head = await readContent(open.deps, user, said[0] ?? "");
    expect(head).toMatchObject({ kind: "plain", bytes: 3 });
    open.clock.advance(60_000);
    await open.tick();
    const { records } = await readLog(open.deps, { topic: "documents.updated" });
    const ids = records.map(({ data }) => (JSON.parse(data) as { document_id: string }).document_id);
    expect(ids.toSorted()).toEqual([said[0], said[2]].toSorted());
    const stored = await Promise.all(
      records.map(({ event_id }) => open.deps.tables.get(eventLogTable, eventKey(event_id))),
    );
    expect(stored.map((event) => (event?.hop ?? 0) > 0)).toEqual([true, true]);
  });
});

const getStored = async (runId: string) => {
  const stored = await open.deps.tables.get(runsTable, runKey(runId));
  if (stored === undefined) throw new Error("the run does not exist");
  return stored;
};

describe("the user of a script", () => {
  const settings = { WORKFLOW_DOCUMENTS_USER: "bot@example.com" };
  const bot = async () => (await createToken(open.deps, { email: "bot@example.com" })).record.user;
  const all = (id: string) => [
    { of: "text of document", id },
    { of: "new comment", id, text: "hello" },
    { of: "more text", id, text: "hello" },
    { of: "new document", title: "child", parent: id },
  ];
  const may: Readonly<Record<Role | "stranger", number>> = {
    stranger: 0,
    reader: 1,
    commenter: 2,
    editor: 4,
    administrator: 4,
    owner: 4,
  };

  it.each(["stranger", ...ROLES] as const)("has exactly the permissions of a %s", async (role) => {
    const said = await answers(all, { settings, content: contentOf() }, async (id) => {
      const user = await bot();
      if (role !== "stranger") await open.deps.tables.write(planInitialAccess(open.deps, id, user, role));
    });
    const refused = "error: You do not have permission to perform this action.";
    expect(said.map((answer) => answer === refused)).toEqual([0, 1, 2, 3].map((at) => at >= may[role]));
    expect(said.filter((answer) => answer.startsWith("error: "))).toHaveLength(4 - may[role]);
  });

  it("is the user of the setting, who owns created documents", async () => {
    const [made = ""] = await answers(() => [{ of: "new document", title: "Mine" }], { settings }, bot);
    const user = await getUser(open.deps, await bot());
    expect((await readDocument(open.deps, user, made)).role).toBe("owner");
    await expect(readDocument(open.deps, await boss(), made)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("must exist", async () => {
    expect(await answers(all, { settings })).toEqual(
      Array(4).fill("error: no user has the email address in WORKFLOW_DOCUMENTS_USER"),
    );
  });
});

describe("a rejected host call", () => {
  it("states the reason", async () => {
    const of = "new document";
    const said = await answers((id) => [
      { of: "text of document", id: NOWHERE },
      { of: "text of document", id: "Runbooks" },
      { of, title: "t".repeat(256) },
      { of, title: "t", content: "x".repeat(1_000_001) },
      { of, title: "t", parent: NOWHERE },
      { of: "more text", id, text: "" },
      { of: "new comment", id, text: "x".repeat(70_000) },
      { of: "everything" },
    ]);
    expect(said.map((answer) => answer.replace(/^error: /, ""))).toEqual([
      "No Document matches the given query.",
      "id: must be the id of a document",
      "title: must have at most 255 characters",
      "content: must have at most 1000000 characters",
      "No Document matches the given query.",
      "text: must not be empty",
      "The comment is longer than 65536 bytes.",
      expect.stringMatching(/^of: /),
    ]);
  });

  it("is one for a deleted record", async () => {
    const said = await answers(
      (id) => [
        { of: "new comment", id, text: "x" },
        { of: "new document", title: "t", parent: id },
      ],
      {},
      async (id) => deleteDocument(open.deps, await boss(), id),
    );
    expect(said).toEqual(Array(2).fill("error: You do not have permission to perform this action."));
  });

  it("is one of a finished run, or of a run beyond the hop limit", async () => {
    const runId = await run(async () => undefined);
    const id = await root();
    const ask = async () => {
      const question = { of: "new comment", id, text: "x", call_id: "p" };
      return (await open.deps.handleScriptCall(runId, question)) as Answer;
    };
    await open.deps.tables.update(runsTable, runKey(runId), { set: { hop: 8 } });
    expect((await ask()).error).toBe("more than 8 runs triggered one another");
    await open.deps.tables.update(runsTable, runKey(runId), { set: { hop: 0 } });
    await open.drain();
    expect((await ask()).error).toBe("the calling run has finished");
    expect(await listThreads(open.deps, await boss(), id)).toEqual([]);
  });
});

it("a workflow that comments on each comment triggers itself at most eight times", async () => {
  open = await testDeps({
    script: async ({ callHost: ask, code }) => {
      if (!code.includes("answer_it")) return { value: true };
      const { data = "{}" } =
        (await readLog(open.deps)).records.find(({ topic }) => topic === "documents.commented") ?? {};
      const { document_id: id } = JSON.parse(data) as { document_id: string };
      return {
        value: answerOf(
          (await (ask as CallHost)("document", { of: "new comment", id, text: "+1" }, stop)) as Answer,
        ),
      };
    },
  });
  await storeWorkflow(
    open.deps,
    'name: echo\ntriggers: [{name: on, type: event, topic: documents.commented, input: {target: "x"}}]\nsteps:\n  - {name: s, type: function, function: "answer_it()"}\n',
  );
  const document = await createDocument(open.deps, await boss(), { title: "T" });
  const child = await createChild(open.deps, await boss(), document, { title: "U" });
  const by = { call: NOWHERE, cause: { run_id: "", workflow_name: "", hop: 0 } };
  await documentCallHandler(open.deps)({ of: "new comment", id: child.document.id, text: "first" }, by);
  await open.drain();
  const threads = await listThreads(open.deps, await boss(), child.document.id);
  expect(threads).toHaveLength(9);
});
