import { converterName } from "../conversions.ts";
import type { Converter } from "../converter.ts";
import { PlatformFault } from "../faults.ts";
import type { Log } from "../log.ts";
import type { Ports } from "../ports.ts";
import type { Resources } from "../resources.ts";
import type { Secrets } from "../secrets.ts";
import type { Environment } from "./clients.ts";
import { awsConverter } from "./converter.ts";
import { openAws } from "./platform.ts";
import { type BundledScripts, bundledScripts } from "./scripts.ts";

export interface LambdaPlatformOptions {
  readonly stack: string;
  readonly resources: Resources;
  readonly log: Log;
  /** The function's environment: endpoints, region, credentials, bucket. */
  readonly environment: Environment;
  readonly secrets: Secrets;
  readonly scripts: BundledScripts;
}

export interface LambdaPlatform {
  readonly ports: Ports;
  readonly converter: Converter;
}

/**
 * The AWS adapter inside a Lambda function. Its commands port rejects every command and its scripts have no access to
 * files: both need the workspace of a run, which only a worker has.
 */
export async function openLambdaPlatform(options: LambdaPlatformOptions): Promise<LambdaPlatform> {
  const { stack, resources, log, environment, secrets } = options;
  const { ports } = await openAws({
    stack,
    resources,
    log,
    environment,
    secrets,
    commands: { run: () => Promise.reject(commandRefused()) },
    scripts: bundledScripts(options.scripts),
  });
  const converter = awsConverter({
    blobs: ports.blobs,
    ids: ports.ids,
    log,
    open: async () => {
      const { lambdaInvoke } = await import("#lib/platform/aws/lambda-invoke.ts");
      return lambdaInvoke(environment, converterName(stack));
    },
  });
  return { ports, converter };
}

const commandRefused = (): PlatformFault =>
  new PlatformFault("command_not_started", "commands are executed by a worker, not in Lambda");
