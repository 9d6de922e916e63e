/** The exports of open.ts for Lambda bundles, without import(). */
// biome-ignore lint/performance/noBarrelFile: esbuild takes this file in place of open.ts and drops unused exports
export { openLambdaPlatform } from "./lambda.ts";
export { openParameterStore } from "./parameter-store.ts";
export { openAws } from "./platform.ts";
