import { hash } from "node:crypto";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_PAGE_FILES } from "#lib/http/api-page.ts";
import type { Handler } from "#lib/http/handler.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { invokeHandler } from "#lib/testing/test-handler-call.ts";
import { requestOf } from "#lib/testing/test-requests.ts";
import { handler as getPage } from "./api-page.ts";
import { handler as getFile } from "./api-page-file.ts";

let world: TestDeps;
beforeAll(async () => {
  world = await testDeps();
});
afterAll(() => world.close());

const get = (handler: Handler, path: string, fields: object = {}) =>
  invokeHandler(handler, { ...requestOf("GET", path, { token: null }), ...fields }, { weft: world.deps });
const getNamed = (file: string, headers: Record<string, string> = {}) =>
  get(getFile, `/docs/${file}`, { pathParameters: { file }, headers });

describe("GET /docs", () => {
  it.each(["/docs", "/docs/"])("%s links only to its files and to the OpenAPI document", async (path) => {
    const { statusCode, headers, body } = await get(getPage, path);

    expect([statusCode, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const links = [...body.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = ""]) => link);
    const paths = links.map((link) => new URL(link, `https://weft.example${path}`).pathname);
    expect(new Set(paths)).toEqual(
      new Set(["/openapi.json", ...API_PAGE_FILES.map((file) => `/docs/${file}`)]),
    );
    expect(body).not.toMatch(/https?:\/\//);
  });

  it("has a policy that allows its inline script, no other one, and nothing from other origins", async () => {
    const { headers, body } = await get(getPage, "/docs");

    const inline = [...body.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script);
    const hashes = inline.map((script) => `'sha256-${hash("sha256", script, "base64")}'`);
    expect(headers["content-security-policy"]).toBe(
      `default-src 'none'; script-src 'self' ${hashes.join(" ")}; style-src 'self'; img-src data:; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it("sends the CSRF token of the browser's session with its requests", async () => {
    const { body } = await get(getPage, "/docs");
    const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(body) ?? [];
    const headersWith = (cookie: string): unknown =>
      runInNewContext(
        `let options; const SwaggerUIBundle = (given) => { options = given; }; ${script};
        JSON.stringify(options.requestInterceptor({ headers: {} }).headers)`,
        { document: { cookie, querySelector: () => ({ href: "/openapi.json" }) } },
      );

    expect(headersWith("a=b; csrftoken=abc-_1; c=d")).toBe('{"X-CSRFToken":"abc-_1"}');
    expect(headersWith("notcsrftoken=abc")).toBe("{}");
    expect(headersWith("")).toBe("{}");
  });
});

describe("GET /docs/{file}", () => {
  it.each([
    ["swagger-ui-bundle.js", "text/javascript; charset=utf-8", "SwaggerUIBundle"],
    ["swagger-ui.css", "text/css; charset=utf-8", ".swagger-ui"],
  ])("returns %s with an ETag", async (file, type, text) => {
    const { statusCode, headers, body } = await getNamed(file);

    expect([statusCode, headers["content-type"]]).toEqual([200, type]);
    expect(Buffer.from(body, "base64").toString()).toContain(text);
    const again = await getNamed(file, { "if-none-match": headers.etag ?? "" });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  it("leads from the link of an email to the document in the web interface", async () => {
    const id = "0a4f2c6e-8d7b-4c1e-9f3a-5b6c7d8e9f00";
    const { statusCode, headers } = await getNamed(id);

    expect([statusCode, headers["location"]]).toEqual([302, `/d/${id}`]);
  });

  it.each([
    [{}, "/new-document"],
    [{ title: "" }, "/new-document"],
    [
      { title: "Plan & <b>more</b>", "link-reach": "public" },
      "/new-document?title=Plan+%26+%3Cb%3Emore%3C%2Fb%3E",
    ],
    [{ title: `${"a".repeat(254)}\u{1f30d}` }, `/new-document?title=${"a".repeat(254)}%EF%BF%BD`],
  ])("leads to the page that creates a document with the title of a link: %j", async (query, location) => {
    const fields = { pathParameters: { file: "new" }, queryStringParameters: query };
    const { statusCode, headers } = await get(getFile, "/docs/new/", fields);

    expect([statusCode, headers["location"]]).toEqual([302, location]);
  });

  it.each(["package.json", "index.html", "../swagger-ui-dist/swagger-ui.css", ""])(
    "returns 404 for %j",
    async (file) => {
      expect((await getNamed(file)).statusCode).toBe(404);
    },
  );
});
