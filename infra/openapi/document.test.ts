import { describe, expect, it } from "vitest";
import * as z from "zod";
import { documentsService } from "../../lib/documents/service.ts";
import { wholeNumber } from "../../lib/http/page.ts";
import { defineRoute, type Route } from "../../lib/http/route.ts";
import { workflowsService } from "../../lib/workflows/service.ts";
import { makeTree } from "../fixture-tree.ts";
import { type ScannedRoute, scanFunctions } from "../scan.ts";
import { Components } from "./components.ts";
import { toOpenApi } from "./document.ts";

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked by hand
type Json = any;

async function fixtureDocument(): Promise<Json> {
  await using tree = await makeTree();
  return toOpenApi((await scanFunctions(tree.root)).routes, "1.2.3");
}

function scanned(fields: Partial<Route>): ScannedRoute {
  const route = defineRoute({
    service: workflowsService,
    operationId: "doIt",
    method: "POST",
    path: "/it",
    summary: "It",
    tag: "it",
    auth: "required",
    status: 200,
    response: z.object({}),
    run: () => ({}),
  });
  return { entry: "functions/workflows/it/do.ts", route: { ...(route as unknown as Route), ...fields } };
}

const document = await fixtureDocument();

describe("the OpenAPI document", () => {
  it("has every route except catch-alls, with its full path", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("1.2.3");
    expect(Object.keys(document.paths)).toEqual([
      "/automation/event-logs",
      "/automation/events/emit",
      "/automation/runs/{id}",
      "/automation/workflows",
      "/health",
    ]);
  });

  it("omits routes that are not part of the API", () => {
    const files = scanned({ method: "GET", path: "/files/{file}", includeInSchema: false });
    expect(toOpenApi([files], "1.2.3").paths).toEqual({});
  });

  it("describes query parameters as they are sent, before any transformation", () => {
    expect(document.paths["/automation/event-logs"].get.parameters).toEqual([
      {
        name: "offset",
        in: "query",
        description: "Number of records to skip",
        schema: { type: "integer", minimum: 0, default: 0 },
      },
      {
        name: "limit",
        in: "query",
        description: expect.stringContaining("10000"),
        schema: { type: "integer", minimum: 1, default: 20 },
      },
      { name: "topic", in: "query", description: "One topic", schema: { type: "string" } },
    ]);
  });

  it("describes the pages of a list, and names schemas that have an id", () => {
    const { schema } =
      document.paths["/automation/event-logs"].get.responses[200].content["application/json"];

    expect(schema.properties).toEqual({
      data: { type: "array", items: { $ref: "#/components/schemas/FixtureEvent" } },
      pagination: { $ref: "#/components/schemas/Pagination" },
    });
    expect(document.components.schemas.FixtureEvent.properties.topic).toEqual({ type: "string" });
  });

  it("describes path parameters, with or without a schema", () => {
    const [id] = document.paths["/automation/runs/{id}"].delete.parameters;
    const withoutSchema: Json = toOpenApi([scanned({ path: "/it/{name}" })], "1");

    expect(id).toMatchObject({
      name: "id",
      in: "path",
      required: true,
      schema: { type: "string", format: "uuid" },
    });
    expect(withoutSchema.paths["/automation/it/{name}"].post.parameters).toEqual([
      { name: "name", in: "path", required: true, schema: { type: "string" } },
    ]);
  });

  it("rejects a params schema with names that the path does not have", () => {
    const route = scanned({ path: "/it/{id}", params: z.object({ run: z.string() }) });

    expect(() => toOpenApi([route], "1")).toThrow("doIt: params has run, which is not in the path");
  });

  it("describes each content type of a raw body", () => {
    const { content } = document.paths["/automation/workflows"].post.requestBody;

    expect(content).toEqual({
      "application/yaml": { schema: { type: "string" } },
      "application/json": { schema: {} },
    });
    expect(Object.keys(document.paths["/automation/workflows"].post.responses)).toContain("201");
  });

  it("has no content for 204, and the error body of the service", () => {
    expect(document.paths["/automation/runs/{id}"].delete.responses[204]).not.toHaveProperty("content");
    expect(Object.keys(document.paths["/automation/events/emit"].post.responses)).toEqual([
      "200",
      "400",
      "401",
      "404",
      "409",
      "413",
      "500",
    ]);
    expect(document.components.schemas.AutomationError.required).toEqual(["error", "message"]);
    const documents: Json = toOpenApi([scanned({ service: documentsService })], "1");
    expect(documents.components.schemas.DocumentsError.properties).toEqual({ detail: { type: "string" } });
  });

  it("requires a token or a session except on public routes", () => {
    expect(document.security).toEqual([{ bearer: [] }, { session: [] }]);
    expect(document.paths["/health"].get.security).toEqual([]);
    expect(document.paths["/health"].get.responses).not.toHaveProperty("401");
    expect(document.paths["/automation/event-logs"].get).not.toHaveProperty("security");
  });

  it("writes {} for types that JSON Schema cannot express", () => {
    const unsupported = z.object({
      made: z.custom<string>(() => true),
      changed: z.string().transform(Number),
      count: wholeNumber(0).optional(),
      day: z.date(),
    });
    const made: Json = toOpenApi([scanned({ body: unsupported })], "1");

    const { schema } = made.paths["/automation/it"].post.requestBody.content["application/json"];

    expect(schema.properties).toMatchObject({
      made: {},
      changed: { type: "string" },
      count: { type: "string" },
      day: {},
    });
  });

  it("names a recursive schema after its place", () => {
    const tree = z.object({
      name: z.string(),
      get children(): z.ZodType {
        return z.array(tree);
      },
    });
    const made: Json = toOpenApi([scanned({ response: tree })], "1");

    const { schema } = made.paths["/automation/it"].post.responses[200].content["application/json"];

    expect(schema).toEqual({ $ref: "#/components/schemas/DoItResponseSchema0" });
    expect(made.components.schemas.DoItResponseSchema0.properties.children.items).toEqual(schema);
  });
});

describe("components", () => {
  it("accept the same schema twice, and reject another one with its name", () => {
    const components = new Components();
    components.add("Run", { type: "object" });

    expect(components.add("Run", { type: "object" })).toEqual({ $ref: "#/components/schemas/Run" });
    expect(() => components.add("Run", { type: "string" })).toThrow("two schemas have the id Run");
  });
});
