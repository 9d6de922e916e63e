import { describe, expect, it } from "vitest";
import openapi from "../../openapi.json" with { type: "json" };
import { type ApiDocument, apiPage } from "./api-page.ts";

describe("the page of the interface", () => {
  const page = apiPage(openapi as unknown as ApiDocument);

  it("shows every operation and every schema, once", () => {
    const operations = Object.values(openapi.paths).flatMap((methods) => Object.values(methods));
    for (const { operationId, summary } of operations as { operationId: string; summary: string }[]) {
      expect(page.split(`id="${operationId.toLowerCase()}"`)).toHaveLength(2);
      expect(page).toContain(summary.replaceAll("'", "&#39;").replaceAll('"', "&quot;"));
    }
    for (const name of Object.keys(openapi.components.schemas))
      expect(page.split(`id="schema-${name.toLowerCase()}"`)).toHaveLength(2);
  });

  it("leads to nothing that is not on it, but to the document itself", () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `#${id}`));
    const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link ?? "");
    expect(links.filter((link) => !ids.has(link))).toEqual(["openapi.json"]);
    expect(page).not.toMatch(/<script|https?:\/\//);
  });

  it("shows text as text", () => {
    const hostile = `<img src=x onerror="alert('x')">&`;
    const document: ApiDocument = {
      info: { title: hostile, version: hostile },
      paths: {
        [hostile]: {
          get: {
            operationId: "x",
            summary: hostile,
            tags: [hostile],
            parameters: [{ name: hostile, in: hostile, description: hostile, schema: { enum: [hostile] } }],
            responses: { "200": { description: hostile } },
          },
        },
      },
      components: {
        schemas: { [hostile]: { properties: { [hostile]: { description: hostile, default: hostile } } } },
      },
    };
    expect(apiPage(document)).not.toContain("<img");
  });
});
