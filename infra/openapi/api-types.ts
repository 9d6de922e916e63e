import { registerHooks } from "node:module";

const HEADER = "// Generated from openapi.json by infra/openapi/api-types.ts: do not edit.\n\n";

/**
 * The TypeScript types of an OpenAPI document. openapi-typescript needs the API of the compiler, which TypeScript 7 does
 * not have: it gets that of TypeScript 6. Decision 0141.
 */
export async function apiTypes(document: Readonly<Record<string, unknown>>): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === "typescript" ? "@typescript/typescript6" : specifier, context),
  });
  try {
    const { default: openapiTS, astToString } = await import("openapi-typescript");
    const nodes = await openapiTS(structuredClone(document) as unknown as Parameters<typeof openapiTS>[0]);
    return `${HEADER}${astToString(nodes)}`;
  } finally {
    hooks.deregister();
  }
}
