/** The folder of the functions, from that of a nested template. It has no package.json: SAM then bundles in place. */
export const CODE_FOLDER = "../../functions/";

/** CommonJS packages inside an ES module bundle call `require`, which such a module lacks. */
const REQUIRE_BANNER =
  "js=import { createRequire as weftCreateRequire } from 'node:module'; const require = weftCreateRequire(import.meta.url);";

/** Sources of credentials that a function never asks: Lambda's lie in the environment. */
const UNUSED_PACKAGES = [
  "@aws-sdk/credential-provider-http",
  "@aws-sdk/credential-provider-ini",
  "@aws-sdk/credential-provider-process",
  "@aws-sdk/credential-provider-sso",
  "@aws-sdk/credential-provider-web-identity",
  "@smithy/credential-provider-imds",
] as const;

/** How SAM has esbuild bundle a function. The ES modules of a package leave out what nobody uses of it. */
export const ESBUILD = {
  Format: "esm",
  MainFields: "module,main",
  Target: "node24",
  Minify: true,
  Sourcemap: true,
  SourcesContent: "false",
  OutExtension: [".js=.mjs"],
  Banner: [REQUIRE_BANNER],
  External: UNUSED_PACKAGES,
} as const;

/** A function's file, from the folder of the functions. */
export function codeEntry(entry: string): string {
  return entry.replace(/^functions\//, "");
}
