import type { Environment } from "./clients.ts";
import type { LambdaPlatform, LambdaPlatformOptions } from "./lambda.ts";
import type { ParameterStore } from "./parameter-store.ts";
import type { AwsOptions, AwsPlatform } from "./platform.ts";

export type { Environment } from "./clients.ts";

// The AWS adapter, loaded by the first call: a server on one machine starts without the AWS SDK. Lambda bundles contain
// open-bundled.ts instead (infra/template/bundling.ts), because esbuild cannot tree-shake modules that import() loads.

export const openAws = async (options: AwsOptions): Promise<AwsPlatform> =>
  (await import("./platform.ts")).openAws(options);

export const openLambdaPlatform = async (options: LambdaPlatformOptions): Promise<LambdaPlatform> =>
  (await import("./lambda.ts")).openLambdaPlatform(options);

export const openParameterStore = async (environment: Environment): Promise<ParameterStore> =>
  (await import("./parameter-store.ts")).openParameterStore(environment);
