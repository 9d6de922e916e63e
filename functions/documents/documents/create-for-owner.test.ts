import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { createToken } from "#lib/documents/users/tokens.ts";
import { planUser } from "#lib/documents/users/users.ts";
import type { Conversion, ConversionResult } from "#lib/platform/converter.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { readLog } from "#lib/testing/test-workflows.ts";
import { handler as readContent } from "../content/get.ts";
import { route as listVersions } from "../versions/list.ts";
import { route as createForOwner } from "./create-for-owner.ts";
import { route as get } from "./get.ts";
import { route as list } from "./list.ts";

const KEY = "a-token-of-a-server";
const BODY = { title: "Report", content: "# Report", sub: "u-1", email: "Anna@Example.com" };

const yjs = (): Uint8Array => {
  const doc = new Y.Doc();
  doc.clientID = 7;
  doc.getText("document-store").insert(0, "Report");
  return Y.encodeStateAsUpdate(doc);
};

let test: TestDeps;
let asked: Conversion[];
let answer: ConversionResult;
const open = async (settings: Record<string, string> = {}): Promise<void> => {
  await test?.close();
  test = await testDeps({
    settings: { SERVER_TO_SERVER_API_TOKENS: `other-token, ${KEY}`, ...settings },
    converter: {
      convert: async (conversion) => {
        asked.push(conversion);
        return answer;
      },
    },
  });
};
beforeEach(async () => {
  asked = [];
  answer = { ok: true, value: yjs() };
  await open();
});
afterEach(() => test.close());

const make = (body: object = {}, authorization: string | null = `Bearer ${KEY}`) =>
  call(test.deps, createForOwner, {
    body: { ...BODY, ...body },
    token: null,
    headers: authorization === null ? {} : { authorization },
  });
const signUp = async (email: string) => (await createToken(test.deps, { email })).token;
const read = (id: string, token: string) => call(test.deps, get, { params: { id }, token });
const told = async (topic: string) => {
  await test.drain();
  return (await readLog(test.deps, { topic })).records.map(({ data }) => JSON.parse(data ?? ""));
};
const mails = async (): Promise<string[]> => {
  await test.drain();
  const folder = join(test.folder, "mail");
  const names = await readdir(folder).catch(() => []);
  return Promise.all(names.toSorted().map((name) => readFile(join(folder, name), "utf8")));
};

describe("a document that a server creates", () => {
  it("belongs to the user with the address, with the converted content", async () => {
    const anna = await signUp("anna@example.com");
    const { status, body } = await make();
    expect(status).toBe(201);
    expect(Object.keys(body)).toEqual(["id"]);
    const document = (await read(body.id, anna)).body;
    expect(document).toMatchObject({ title: "Report", user_role: "owner", depth: 1, nb_accesses_direct: 1 });
    expect(document.creator).toEqual(expect.any(String));
    expect(asked).toEqual([{ from: "markdown", bytes: Buffer.from("# Report"), to: "yjs" }]);
    const content = await callHandler(test.deps, readContent, { params: { id: body.id }, token: anna });
    expect(content.text).toBe(Buffer.from(yjs()).toString("base64"));
    expect((await call(test.deps, list, { token: anna })).body.count).toBe(1);
    const versions = await call(test.deps, listVersions, { params: { id: body.id }, token: anna });
    expect(versions).toMatchObject({ status: 200, body: { versions: [] } });
    expect(await told("documents.created")).toMatchObject([
      { document_id: body.id, user_id: document.creator, title: "Report", parent_id: null },
    ]);
  });

  it("is assigned by `sub` rather than by the address", async () => {
    const { user, writes } = planUser(test.deps, { sub: "u-1", email: "other@example.com" });
    await test.deps.tables.write(writes);
    const anna = await signUp("anna@example.com");
    const { body } = await make();
    expect((await read(body.id, TEST_TOKEN)).status).toBe(403);
    expect((await read(body.id, anna)).status).toBe(403);
    const other = await signUp("other@example.com");
    expect((await read(body.id, other)).body).toMatchObject({ creator: user.id, user_role: "owner" });
    expect((await mails())[0]).toContain("To: other@example.com");
  });

  it("is assigned to the first user who signs in with the address", async () => {
    const { body } = await make();
    expect((await read(body.id, TEST_TOKEN)).status).toBe(403);
    const anna = await signUp("anna@example.com");
    const document = (await read(body.id, anna)).body;
    expect(document).toMatchObject({ user_role: "owner", nb_accesses_direct: 1 });
    expect(document.creator).toEqual(expect.any(String));
  });

  it("may belong to the installation's owner, who has not signed in yet", async () => {
    await open({ WEFT_OWNER_EMAIL: "boss@example.com" });
    const { body } = await make({ email: "BOSS@example.com" });
    expect((await read(body.id, TEST_TOKEN)).body).toMatchObject({ user_role: "owner" });
  });

  it("sends a mail with the server's text in the owner's language", async () => {
    await make({ language: "fr-fr" });
    await make({ subject: "Your\r\nBcc: x@example.com report", message: "Look at it.\n<b>Soon</b>" });
    await make({ send_notification_email: false });
    const sent = await mails();
    expect(sent).toHaveLength(2);
    const [french = "", own = ""] = sent;
    expect(french).toContain("To: anna@example.com");
    expect(french).toMatch(/Subject: =\?UTF-8\?|Subject: Un document/i);
    expect(own).toContain("Subject: Your Bcc: x@example.com report");
    expect(own).not.toMatch(/^Bcc:/m);
    expect(own).toContain("&lt;b&gt;Soon&lt;/b&gt;");
  });

  it("is complete for concurrent requests", async () => {
    const anna = await signUp("anna@example.com");
    const made = await Promise.all(Array.from({ length: 5 }, () => make()));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect((await call(test.deps, list, { token: anna })).body.count).toBe(5);
  });
});

describe("other callers", () => {
  it.each([
    [null, "Authorization header is missing."],
    ["Bearer", "Invalid authorization header."],
    ["Basic abc", "Invalid authorization header."],
    [`Bearer ${KEY} more`, "Invalid authorization header."],
    [`Bearer ${KEY}x`, "Invalid server-to-server token."],
    [`Bearer ${TEST_TOKEN}`, "Invalid server-to-server token."],
  ])("with %j makes nothing, whatever the body", async (authorization, detail) => {
    expect(await make({ title: 7 }, authorization)).toEqual({ status: 401, body: { detail } });
    expect(asked).toEqual([]);
  });

  it("include everybody if no token is set", async () => {
    await open({ SERVER_TO_SERVER_API_TOKENS: "" });
    expect((await make()).status).toBe(401);
    expect((await make({}, "Bearer ")).status).toBe(401);
  });
});

describe("the content of the request", () => {
  const required = ["This field is required."];
  it.each([
    [
      { title: undefined, content: undefined, sub: undefined, email: undefined },
      { title: required, content: required, sub: required, email: required },
    ],
    [{ title: " " }, { title: ["This field may not be blank."] }],
    [{ title: "t".repeat(256) }, { title: ["Ensure this field has no more than 255 characters."] }],
    [{ content: " \n" }, { content: ["This field may not be blank."] }],
    [{ sub: "ä" }, { sub: ["Enter a valid sub. This value should be ASCII only."] }],
    [{ sub: "s".repeat(256) }, { sub: ["Ensure this field has no more than 255 characters."] }],
    [{ email: "anna" }, { email: ["Enter a valid email address."] }],
    [{ email: "" }, { email: ["This field may not be blank."] }],
    [{ language: "xx-yy" }, { language: ['"xx-yy" is not a valid choice.'] }],
    [
      { message: 7, subject: [] },
      { message: ["Not a valid string."], subject: ["Not a valid string."] },
    ],
  ])("as %j is refused by field", async (body, said) => {
    expect(await make(body)).toEqual({ status: 400, body: said });
    expect(asked).toEqual([]);
  });

  it("stores nothing if it cannot be converted", async () => {
    answer = { ok: false, reason: "refused" };
    expect(await make()).toEqual({ status: 400, body: { content: ["Could not convert content"] } });
    expect(await told("documents.created")).toEqual([]);
    expect(await mails()).toEqual([]);
  });

  it("is rejected if the address belongs to a user with another sub", async () => {
    await open({ OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION: "false" });
    await signUp("anna@example.com");
    expect(await make()).toEqual({
      status: 400,
      body: { email: ["This email is already associated to a registered user."] },
    });
  });
});

it("rejects an address whose lower case is another user's address", async () => {
  await signUp("kate@example.com");
  expect(await make({ email: "\u212aate@example.com" })).toMatchObject({
    status: 400,
    body: { email: [expect.any(String)] },
  });
});
