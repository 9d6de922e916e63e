import type { Environment } from "./client-options.ts";
import type { LambdaPlatform, LambdaPlatformOptions } from "./lambda.ts";
import type { ParameterStore } from "./parameter-store.ts";
import type { AwsOptions, AwsPlatform } from "./platform.ts";

export type { Environment } from "./client-options.ts";

// The AWS adapter, loaded by the first call: a server on one machine starts without it. Lambda bundles contain
// open-bundled.ts instead (infra/template/bundling.ts), because every function opens the adapter.

export const openAws = async (options: AwsOptions): Promise<AwsPlatform> =>
  (await import("./platform.ts")).openAws(options);

export const openLambdaPlatform = async (options: LambdaPlatformOptions): Promise<LambdaPlatform> =>
  (await import("./lambda.ts")).openLambdaPlatform(options);

export const openParameterStore = async (environment: Environment): Promise<ParameterStore> =>
  (await import("./parameter-store.ts")).openParameterStore(environment);
