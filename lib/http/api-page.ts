/** The part of a JSON Schema that a reader is shown. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:1rem 1.5rem;color:#1c2024;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #d9d9e0}h3{font-size:1rem;margin:0}
code,pre{font:13px/1.5 ui-monospace,monospace}nav a{margin-right:1rem}a{color:#0b57d0}
details{border:1px solid #d9d9e0;border-radius:6px;margin:.5rem 0;padding:.5rem .8rem}summary{cursor:pointer}
.method{display:inline-block;min-width:4rem;font-weight:600}.quiet{color:#60646c}
table{border-collapse:collapse;width:100%;margin:.4rem 0}td,th{border-top:1px solid #ececf0;padding:.25rem .6rem .25rem 0;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{color:#e6e6e9;background:#17181c}h2,details,td,th{border-color:#3a3b42}a{color:#8ab4f8}.quiet{color:#a0a4ad}}
`;

/** What a browser may do with the page: show it, with its own style, and nothing else. */
export const API_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Shows an OpenAPI document as one HTML page that needs no script, and nothing from elsewhere. */
export function apiPage({ info, paths, components }: ApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? "Other");
  const sections = [...tags].map(
    ([tag, list]) =>
      `<h2 id="${anchor(tag)}">${escaped(tag)}</h2>${list.map((one) => operationHtml(one)).join("")}`,
  );
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="${anchor(`schema ${name}`)}"><summary><code>${escaped(name)}</code></summary>${schemaHtml(schema)}</details>`,
  );
  const links = [...tags.keys()].map((tag) => `<a href="#${anchor(tag)}">${escaped(tag)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(info.title)} API</title><style>${STYLE}</style></head><body>
<h1>${escaped(info.title)} API <span class="quiet">${escaped(info.version)}</span></h1>
<p>Send the access token as <code>Authorization: Bearer &lt;token&gt;</code>. The same as a document for programs: <a href="openapi.json">openapi.json</a>.</p>
<nav>${links.join("")}<a href="#schemas">Schemas</a></nav>
${sections.join("\n")}
<h2 id="schemas">Schemas</h2>
${schemas.join("\n")}
</body></html>
`;
}

interface Placed {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function operationHtml({ path, method, operation }: Placed): string {
  const { operationId, summary, parameters = [], requestBody, responses, security } = operation;
  const open = security !== undefined && security.length === 0 ? ' <span class="quiet">no token</span>' : "";
  const rows = parameters.map(
    ({ name, in: place, required, description = "", schema = {} }) =>
      `<tr><td><code>${escaped(name)}</code>${required === true ? " *" : ""}</td><td class="quiet">${escaped(place)}</td><td>${typeHtml(schema)}</td><td>${escaped(description)}</td></tr>`,
  );
  const answers = Object.entries(responses).map(
    ([status, { description, content }]) =>
      `<tr><td><code>${escaped(status)}</code></td><td>${escaped(description)}</td><td>${contentTypes({ ...(content === undefined ? {} : { content }) })}</td></tr>`,
  );
  return `<details id="${anchor(operationId)}"><summary><span class="method">${escaped(method.toUpperCase())}</span><code>${escaped(path)}</code> ${escaped(summary)}${open}</summary>
${rows.length === 0 ? "" : `<table>${rows.join("")}</table>`}${requestBody === undefined ? "" : `<h3>Body</h3>${bodyHtml(requestBody)}`}<h3>Answers</h3><table>${answers.join("")}</table></details>
`;
}

function bodyHtml({ content = {} }: Content): string {
  return Object.entries(content)
    .map(([type, { schema = {} }]) => `<p class="quiet">${escaped(type)}</p>${schemaHtml(schema)}`)
    .join("");
}

const contentTypes = ({ content = {} }: Content): string =>
  Object.entries(content)
    .map(([type, { schema = {} }]) => `${typeHtml(schema)} <span class="quiet">${escaped(type)}</span>`)
    .join("<br>");

/** The properties of a schema, a row each; what is no object is told by its type. */
function schemaHtml(schema: Schema): string {
  const { properties, required = [] } = schema;
  if (properties === undefined) return `<p>${typeHtml(schema)} ${escaped(schema.description ?? "")}</p>`;
  const rows = Object.entries(properties).map(([name, property]) => {
    const star = required.includes(name) ? " *" : "";
    const otherwise =
      property.default === undefined
        ? ""
        : ` Default: <code>${escaped(JSON.stringify(property.default))}</code>`;
    return `<tr><td><code>${escaped(name)}</code>${star}</td><td>${typeHtml(property)}</td><td>${escaped(property.description ?? "")}${otherwise}</td></tr>`;
  });
  return `<table>${rows.join("")}</table>`;
}

/** How deep types are told in one line. */
const TYPE_DEPTH = 3;

function typeHtml(schema: Schema, depth = 0): string {
  if (depth > TYPE_DEPTH) return "…";
  const { $ref, enum: values, const: constant, items, anyOf, oneOf, type, properties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    return `<a href="#${anchor(`schema ${name}`)}">${escaped(name)}</a>`;
  }
  if (constant !== undefined) return `<code>${escaped(JSON.stringify(constant))}</code>`;
  if (values !== undefined)
    return values.map((value) => `<code>${escaped(JSON.stringify(value))}</code>`).join(" | ");
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map((one) => typeHtml(one, depth + 1)).join(" | ");
  if (items !== undefined) return `list of ${typeHtml(items, depth + 1)}`;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(
      ([name, property]) => `${escaped(name)}: ${typeHtml(property, depth + 1)}`,
    );
    return `{${fields.join(", ")}}`;
  }
  return escaped(typeof type === "string" ? type : (type ?? ["any"]).join(" | "));
}

const anchor = (text: string): string => text.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase();

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
