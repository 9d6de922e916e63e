import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser } from "#lib/testing/test-documents.ts";
import {
  type GatewayRequest,
  type GatewayResponse,
  type TestGateway,
  testGateway,
} from "#lib/testing/test-gateway.ts";

const BASE = "/api/v1.0";
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const NOWHERE = "11111111-1111-4111-8111-111111111111";
const JSON_TYPE = { "content-type": "application/json" };
const NO_IDS = ["abc", "%00", "x".repeat(3_000), "'; drop", "%F0%9F%99%82", "constructor", NOWHERE];
const NO_VALUES = [null, true, -1, 1e308, "\0", "x".repeat(70_000), [], {}, [[]], "\ud800"];
const NO_BODIES = [
  "{",
  "null",
  "[]",
  "7",
  '"x"',
  "[".repeat(200),
  '{"__proto__":{"a":1}}',
  "\u00ff",
  '{"a":1}{',
];
const NO_QUERIES = [
  "",
  "-1",
  "0",
  "1e9",
  "99999999999999999999",
  "x".repeat(3_000),
  "\0",
  "null",
  "🙂",
  "[]",
];

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly needsToken: boolean;
  readonly queries: readonly string[];
  /** Fields of its JSON body; undefined if it has none. */
  readonly fields: readonly string[] | undefined;
}

let test: TestDeps;
let gateway: TestGateway;
let ids: Readonly<Record<string, string>>;
let operations: readonly Operation[];

beforeAll(async () => {
  test = await testDeps({
    settings: {
      SERVER_TO_SERVER_API_TOKENS: "server",
      AI_FEATURE_ENABLED: "true",
      AI_FEATURE_BLOCKNOTE_ENABLED: "true",
      AI_USER_RATE_THROTTLE_RATES: "off",
      AI_DOCUMENT_RATE_THROTTLE_RATES: "off",
    },
    converter: { convert: async () => ({ ok: true, value: new Uint8Array([0, 0]) }) },
  });
  gateway = await testGateway(test);
  operations = operationsOf(gateway.api);
  ids = await makeOneOfEach();
});
afterAll(async () => {
  await gateway?.close();
  await test?.close();
});

function operationsOf(api: TestGateway["api"]): Operation[] {
  return Object.entries(api.paths)
    .filter(([path]) => path.startsWith(`${BASE}/`))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]): Operation => {
        // biome-ignore lint/suspicious/noExplicitAny: it is an OpenAPI document
        const { parameters = [], requestBody, security } = described as any;
        return {
          method: method.toUpperCase(),
          path: path.slice(BASE.length),
          needsToken: security === undefined,
          queries: parameters
            .filter((one: { in: string }) => one.in === "query")
            .map(({ name }: { name: string }) => name),
          fields: isJson(requestBody)
            ? fieldsOf(api, requestBody.content["application/json"].schema)
            : undefined,
        };
      }),
    );
}

// biome-ignore lint/suspicious/noExplicitAny: it is an OpenAPI document
const isJson = (requestBody: any): boolean => requestBody?.content["application/json"] !== undefined;

// biome-ignore lint/suspicious/noExplicitAny: it is an OpenAPI document
function fieldsOf(api: any, schema: any): string[] {
  const known =
    schema.$ref === undefined ? schema : api.components.schemas[String(schema.$ref).split("/").at(-1) ?? ""];
  return Object.keys(known.properties ?? {});
}

async function makeOneOfEach(): Promise<Record<string, string>> {
  const ann = await createUser(test.deps, "ann");
  const ben = await createUser(test.deps, "ben");
  const made = async (path: string, body: object, token?: string) =>
    (await gateway.request("POST", path, { body, ...(token === undefined ? {} : { token }) })).body;
  const id = (await made("/documents/", { title: "Notes" })).id;
  const at = `/documents/${id}`;
  await gateway.request("PATCH", `${at}/content/`, { body: { content: "aGVsbG8=" } });
  const thread = await made(`${at}/threads/`, { body: [] });
  await gateway.request("POST", `${at}/ask-for-access/`, { body: {}, token: ben.token });
  return {
    id,
    thread: thread.id,
    comment: thread.comments[0].id,
    versionId: "none",
    accessId: (await made(`${at}/accesses/`, { user_id: ann.id })).id,
    invitationId: (await made(`${at}/invitations/`, { email: "new@example.com" })).id,
    requestId: (await gateway.request("GET", `${at}/ask-for-access/`)).body.results[0].id,
  };
}

const filled = (path: string, own: Readonly<Record<string, string>> = {}): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => own[name] ?? ids[name] ?? NOWHERE);

const ask = (method: string, path: string, asked?: GatewayRequest) => gateway.request(method, path, asked);

/** The expected response to any input: never a server error, and documented error texts. */
function expectPlain(answer: GatewayResponse, sent: string): void {
  expect(answer.status, `${sent}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
  expect(answer.text, sent).not.toMatch(/node_modules|\.ts:\d|\n {4}at /);
  if (answer.status < 400) return;
  const { body } = answer;
  if (body === "invalid yjs document") return;
  expect(typeof body, sent).toBe("object");
  if (answer.status !== 400 || Array.isArray(body)) return;
  for (const [field, said] of Object.entries(body))
    expect(field === "detail" || Array.isArray(said) || typeof said !== "object", `${sent}: ${field}`).toBe(
      true,
    );
}

describe("unknown routes", () => {
  it.each([
    "/nowhere",
    "/nowhere/",
    "/documents/all/more",
    "/documents/x/y/z/",
    "/users/x/y",
    "/%20",
    "/can-edit/",
  ])("%s is not found, in the documents' words, whoever asks", async (path) => {
    for (const token of [undefined, null]) {
      const asked = token === null ? { token } : {};
      const { status, body, headers } = await ask("GET", path, asked);
      expect([status, body]).toEqual([404, { detail: "Not found." }]);
      expect(headers.get("x-request-id")).toMatch(/./);
    }
  });

  it("return 405 with the allowed methods for other methods on every path", async () => {
    const paths = [...new Set(operations.map(({ path }) => path))];
    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      const here = operations.filter((one) => one.path === path);
      const known = here.map(({ method }) => method);
      const needsToken = here.every((one) => one.needsToken);
      for (const method of METHODS.filter((one) => !known.includes(one))) {
        const refused = await ask(method, `${filled(path)}/`);
        expect([path, refused.status, refused.body]).toEqual([
          path,
          405,
          { detail: `Method "${method}" not allowed.` },
        ]);
        expect(refused.headers.get("allow")?.split(", ").toSorted()).toEqual(known.toSorted());
        const anonymous = await ask(method, `${filled(path)}/`, { token: null });
        expect([path, anonymous.status]).toEqual([path, needsToken ? 401 : 405]);
      }
    }
  });
});

describe("every response", () => {
  it("permits a browser to load nothing, is not cached, and has an allowed origin", async () => {
    for (const [path, status] of [
      ["/config/", 200],
      [`/documents/${ids.id}/content/`, 200],
      ["/documents/?page=x", 404],
      ["/nowhere", 404],
    ] as const) {
      const { headers, status: answered } = await ask("GET", path);
      const policy = headers.get("content-security-policy") ?? "";
      expect([path, answered, policy.match(/ 'none'/g)?.length]).toEqual([path, status, 16]);
    }
    const refused = await ask("GET", `/documents/${ids.id}/`, { token: null });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});

describe("bad input", () => {
  it("in path ids returns 404", async () => {
    for (const { method, path, fields } of operations)
      for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g))
        for (const id of NO_IDS) {
          const body = fields === undefined ? {} : { body: {} };
          const answer = await ask(method, `${filled(path, { [name]: id })}/`, body);
          const sent = `${method} ${path} ${name}=${id.slice(0, 20)}`;
          expectPlain(answer, sent);
          expect([400, 403, 404], sent).toContain(answer.status);
        }
  });

  it("in queries is rejected by field or ignored", async () => {
    for (const { method, path, queries } of operations)
      for (const name of method === "GET" ? queries : [])
        for (const value of NO_QUERIES) {
          const query = new URLSearchParams({
            ...(path.endsWith("/search") ? { q: "n" } : {}),
            [name]: value,
          });
          const sent = `${method} ${path}?${name}=${value.slice(0, 20)}`;
          expectPlain(await ask(method, `${filled(path)}/?${query}`), sent);
        }
  });

  it("in bodies is rejected for any content type", async () => {
    for (const { method, path, fields } of operations) {
      if (fields === undefined) continue;
      for (const raw of NO_BODIES)
        expectPlain(
          await ask(method, `${filled(path)}/`, { raw, headers: JSON_TYPE }),
          `${method} ${path} ${raw}`,
        );
      const bytes = await ask(method, `${filled(path)}/`, {
        raw: new Uint8Array([255, 254, 0]),
        headers: JSON_TYPE,
      });
      expectPlain(bytes, `${method} ${path} bytes`);
      const sent = await ask(method, `${filled(path)}/`, {
        raw: "a",
        headers: { "content-type": "text/csv" },
      });
      // The check of the user precedes the check of the body.
      const isOthers = path === "/users/{id}" || path.startsWith("/collaboration/");
      const refused = isOthers ? [403] : [401, 415];
      expect([path, refused.includes(sent.status)]).toEqual([path, true]);
    }
  });

  it("in fields is rejected by their names", async () => {
    for (const { method, path, fields = [] } of operations)
      for (const field of fields)
        for (const value of NO_VALUES) {
          const asked = path.endsWith("create-for-owner")
            ? { token: null, headers: { authorization: "Bearer server" } }
            : {};
          const answer = await ask(method, `${filled(path)}/`, { body: { [field]: value }, ...asked });
          expectPlain(answer, `${method} ${path} ${field}=${JSON.stringify(value).slice(0, 20)}`);
        }
  });

  it.each([
    [{ title: "a\0b" }, { title: ["Null characters are not allowed."] }],
    [{ excerpt: "a\ud800" }, { excerpt: ["Surrogate characters are not allowed: U+D800."] }],
    [{ excerpt: "x".repeat(301) }, { excerpt: ["Ensure this field has no more than 300 characters."] }],
    [[], { non_field_errors: ["Invalid data. Expected a dictionary, but got list."] }],
  ])("as %j of a document is told in these words", async (body, said) => {
    const answer = await ask("POST", "/documents/", { body });
    expect([answer.status, answer.body]).toEqual([400, said]);
  });

  it("returns an error for malformed JSON and for bodies that are too large", async () => {
    const broken = await ask("POST", "/documents/", { raw: "{", headers: JSON_TYPE });
    expect([broken.status, broken.body]).toEqual([
      400,
      { detail: expect.stringMatching(/^JSON parse error - /) },
    ]);
    const large = await ask("POST", "/documents/", { body: { title: "x".repeat(5_000_000) } });
    expect([large.status, large.body]).toEqual([413, { detail: expect.any(String) }]);
    const type = await ask("POST", "/documents/", { raw: "x", headers: { "content-type": "text/csv" } });
    expect([type.status, type.body]).toEqual([
      415,
      { detail: 'Unsupported media type "text/csv" in request.' },
    ]);
  });

  it("of unauthorized callers has the same response as valid input", async () => {
    const cat = (await createUser(test.deps, "cat")).token;
    const at = `/documents/${ids.id}`;
    const thread = `${at}/threads/${ids.thread}`;
    for (const [method, path] of [
      ["PATCH", `${at}/`],
      ["PUT", `${at}/`],
      ["POST", `${at}/children/`],
      ["GET", `${at}/children/?q=${"x".repeat(300)}`],
      ["POST", `${at}/duplicate/`],
      ["POST", `${at}/accesses/`],
      ["PUT", `${at}/accesses/${ids.accessId}/`],
      ["POST", `${at}/invitations/`],
      ["PATCH", `${at}/invitations/${ids.invitationId}/`],
      ["POST", `${at}/ask-for-access/${ids.requestId}/accept/`],
      ["POST", `${at}/threads/`],
      ["POST", `${thread}/comments/`],
      ["PUT", `${thread}/comments/${ids.comment}/`],
      ["POST", `${thread}/comments/${ids.comment}/reactions/`],
    ] as const) {
      const sent = method === "GET" ? {} : { raw: "[7]", headers: JSON_TYPE };
      const statusOf = async (to: string, asked: GatewayRequest = {}) =>
        (await ask(method, to, { ...sent, ...asked })).status;
      const answered = [
        await statusOf(path, { token: null }),
        await statusOf(path, { token: cat }),
        await statusOf(path.replace(ids.id ?? "", NOWHERE)),
        await statusOf(path),
      ];
      expect([method, path, answered]).toEqual([method, path, [401, 403, 404, 400]]);
    }
  });
});
