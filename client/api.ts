import createClient, { type Client, type ClientOptions } from "openapi-fetch";
import type { components, paths } from "./api-types.ts";

/** The records of the API by name, such as `Schemas["Document"]`. */
export type Schemas = components["schemas"];
export type ApiClient = Client<paths>;

export interface ApiClientOptions extends Pick<ClientOptions, "fetch"> {
  /** Origin of the server, such as `https://docs.example.org`. */
  readonly origin: string;
  /** Headers of each request: a bearer token, or the CSRF token of a session. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/**
 * A response that is no success. `message` is the service's own; empty if the body has none. `fields` has the messages
 * of fields that the service did not accept.
 */
export class ApiFailure extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  constructor(status: number, body: unknown) {
    const object = isObject(body) ? body : {};
    const { detail, message } = object;
    const fields = Object.entries(object).flatMap(([name, texts]) =>
      Array.isArray(texts) ? [[name, texts.join(" ")] as const] : [],
    );
    const texts = fields.map(([name, text]) => (name === "__all__" ? text : `${name}: ${text}`));
    super([detail, message].find((text) => typeof text === "string") ?? texts.join("; "));
    this.name = "ApiFailure";
    this.status = status;
    this.fields = Object.fromEntries(fields);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A client of both services whose paths, parameters and bodies are typed. A response of status 400 and above rejects
 * with an ApiFailure, a failed connection with the error of `fetch`.
 */
export function createApiClient({ origin, headers = () => ({}), ...options }: ApiClientOptions): ApiClient {
  const client = createClient<paths>({
    baseUrl: origin,
    // The log of a run is text otherwise.
    headers: { accept: "application/json" },
    querySerializer: toQuery,
    ...options,
  });
  client.use({
    onRequest: ({ request }) => {
      for (const [name, value] of Object.entries(headers())) request.headers.set(name, value);
    },
    onResponse: async ({ response }) => {
      if (response.ok) return;
      throw new ApiFailure(response.status, await response.json().catch(() => undefined));
    },
  });
  return client;
}

/** A query string in which each property of an object is a parameter of its own, as the API describes them. */
function toQuery(query: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const [key, one] of isObject(value) ? Object.entries(value) : [[name, value] as const])
      if (one !== undefined && one !== null) parameters.set(key, String(one));
  return parameters.toString();
}

/** The body of a successful response. */
export async function dataOf<Data>(response: Promise<{ data?: Data | undefined }>): Promise<Data> {
  return (await response).data as Data;
}
