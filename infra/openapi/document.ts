import { STATUS_CODES } from "node:http";
import type * as z from "zod";
import { SESSION_COOKIE } from "../../lib/documents/login/session-id.ts";
import { ERROR_STATUS } from "../../lib/errors.ts";
import { pagination } from "../../lib/http/page.ts";
import { isBodiless } from "../../lib/http/response.ts";
import { fullPath, type Route } from "../../lib/http/route.ts";
import { byCodeUnits, toPascalCase } from "../names.ts";
import type { ScannedRoute } from "../scan.ts";
import { Components, type JsonSchema } from "./components.ts";

const JSON_TYPE = "application/json";
const PATH_PARAMETER = /\{([A-Za-z0-9]+)\+?\}/g;

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Created",
  202: "Accepted; processing continues in the background",
  204: "No content",
  ...Object.fromEntries(
    Object.entries(ERROR_STATUS).map(([code, status]) => [
      status,
      code.charAt(0).toUpperCase() + code.slice(1).replaceAll("_", " "),
    ]),
  ),
  500: "Internal error",
};

const CREDENTIALS: readonly JsonSchema[] = [{ bearer: [] }, { session: [] }];

/**
 * The OpenAPI 3.1 document of all routes. Omits catch-all routes (`ANY`), which are the gateway's 404, and
 * routes with `includeInSchema: false`.
 * Throws if a route's path and its `params` schema have different parameters.
 */
export function toOpenApi(routes: readonly ScannedRoute[], version: string): JsonSchema {
  const components = new Components();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const listed = routes
    .map(({ route }) => route)
    .filter((route) => route.method !== "ANY" && route.includeInSchema !== false)
    .sort(
      (left, right) => byCodeUnits(fullPath(left), fullPath(right)) || byCodeUnits(left.method, right.method),
    );
  for (const route of listed) {
    const path = fullPath(route).replaceAll("+}", "}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Weft", version, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: CREDENTIALS,
    tags: [...new Set(listed.map((route) => route.tag))].sort(byCodeUnits).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: SESSION_COOKIE },
      },
      schemas: components.toObject(),
    },
  };
}

const SECURITY: Readonly<Record<Route["auth"], JsonSchema>> = {
  required: {},
  optional: { security: [{}, ...CREDENTIALS] },
  none: { security: [] },
};

function toOperation(route: Route, components: Components): JsonSchema {
  const parameters = [...pathParameters(route, components), ...queryParameters(route, components)];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body, components) }),
    responses: { ...toResponses(route, components), ...toErrorResponses(route, components) },
  };
}

function pathParameters(route: Route, components: Components): JsonSchema[] {
  const inPath = [...route.path.matchAll(PATH_PARAMETER)].map(([, name]) => name ?? "");
  const known = propertiesOf(route.params, `${toPascalCase(route.operationId)}Params`, components);
  const unknown = Object.keys(known).filter((name) => !inPath.includes(name));
  if (unknown.length > 0)
    throw new Error(`${route.operationId}: params has ${unknown.join(", ")}, which is not in the path`);
  return inPath.map((name) => toParameter(name, "path", known[name]?.schema ?? { type: "string" }, true));
}

function queryParameters(route: Route, components: Components): JsonSchema[] {
  const known = propertiesOf(route.query, `${toPascalCase(route.operationId)}Query`, components);
  return Object.entries(known).map(([name, { schema, required }]) =>
    toParameter(name, "query", schema, required),
  );
}

function propertiesOf(
  schema: z.ZodType | undefined,
  place: string,
  components: Components,
): Record<string, { schema: JsonSchema; required: boolean }> {
  if (schema === undefined) return {};
  const { properties, required } = components.of(schema, place);
  const requiredNames = new Set((required ?? []) as readonly string[]);
  return Object.fromEntries(
    Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => [
      name,
      { schema: property, required: requiredNames.has(name) },
    ]),
  );
}

function toParameter(
  name: string,
  where: "path" | "query",
  schema: JsonSchema,
  required: boolean,
): JsonSchema {
  const { description, ...rest } = schema;
  return {
    name,
    in: where,
    ...(required ? { required } : {}),
    ...(description === undefined ? {} : { description }),
    // Each property is a parameter of its own.
    ...(where === "query" && rest.type === "object" ? { style: "form", explode: true } : {}),
    schema: rest,
  };
}

function requestBody(route: Route, body: z.ZodType, components: Components): JsonSchema {
  if (route.bodyKind === undefined || route.bodyKind === "json" || route.bodyKind === "large") {
    const schema = components.of(route.bodySchema ?? body, `${toPascalCase(route.operationId)}Body`);
    return { required: true, content: { [JSON_TYPE]: { schema } } };
  }
  if (route.bodyKind === "json or multipart") {
    const name = toPascalCase(route.operationId);
    const json = components.of(body, `${name}Body`);
    const form = components.of(route.bodySchema ?? body, `${name}Form`);
    return {
      required: true,
      content: { [JSON_TYPE]: { schema: json }, "multipart/form-data": { schema: form } },
    };
  }
  if (route.bodyKind === "multipart") {
    const schema = components.of(route.bodySchema ?? body, `${toPascalCase(route.operationId)}Body`);
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  const types = route.bodyTypes ?? ["text/plain"];
  return {
    required: true,
    content: Object.fromEntries(
      types.map((type) => [type, { schema: type === JSON_TYPE ? {} : { type: "string" } }]),
    ),
  };
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

function toResponses(route: Route, components: Components): Record<string, JsonSchema> {
  const description = DESCRIPTIONS[route.status] ?? STATUS_CODES[route.status] ?? "Done";
  if (isBodiless(route.status) || isRedirect(route.status)) return { [route.status]: { description } };
  if (route.fileTypes !== undefined) {
    const hasSchema = route.response.def.type !== "custom";
    const content = route.fileTypes.map((type) => [
      type,
      {
        schema:
          hasSchema && type === JSON_TYPE
            ? components.of(route.response, `${toPascalCase(route.operationId)}Response`)
            : { type: "string", format: "binary" },
      },
    ]);
    return { [route.status]: { description, content: Object.fromEntries(content) } };
  }
  const item = components.of(route.response, `${toPascalCase(route.operationId)}Response`);
  const schema = route.list === true ? toListSchema(item, components) : item;
  const { accepted: later, ...own } = route;
  const accepted =
    later === undefined ? {} : toResponses({ ...own, response: later, status: 202 }, components);
  return { [route.status]: { description, content: { [JSON_TYPE]: { schema } } }, ...accepted };
}

function toListSchema(item: JsonSchema, components: Components): JsonSchema {
  return {
    type: "object",
    properties: {
      data: { type: "array", items: item },
      pagination: components.add("Pagination", components.of(pagination, "Pagination")),
    },
    required: ["data", "pagination"],
  };
}

function toErrorResponses(route: Route, components: Components): Record<string, JsonSchema> {
  const { name, schema } = route.service.errorFormat.errorSchema;
  const reference = components.add(name, schema);
  const statuses = [
    400,
    ...(route.auth === "none" ? [] : [401]),
    ...(route.callers === undefined ? [] : [403]),
    404,
    ...(route.body === undefined ? [] : [413]),
    ...(route.throttle === undefined ? [] : [429]),
    500,
    ...(route.errors ?? []),
  ];
  return Object.fromEntries(
    [...new Set(statuses)].map((status) => [
      status,
      { description: DESCRIPTIONS[status] ?? "Error", content: { [JSON_TYPE]: { schema: reference } } },
    ]),
  );
}
