/** Files that esbuild imports as text: `import text from "…" with { type: "text" }`. */
declare module "swagger-ui-dist/*" {
  const text: string;
  export = text;
}
