/** The exports of open.ts for Lambda bundles, without import(). */
// biome-ignore lint/performance/noBarrelFile: esbuild takes this file in place of open.ts and drops what is unused
export { openLambdaPlatform } from "./lambda.ts";
export { openParameterStore } from "./parameter-store.ts";
export { openAws } from "./platform.ts";
