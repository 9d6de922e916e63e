import { CONVERSION_SECONDS, converterName } from "../conversions.ts";
import type { Converter } from "../converter.ts";
import { PlatformFault } from "../faults.ts";
import type { Log } from "../log.ts";
import type { Ports } from "../ports.ts";
import type { Renderer } from "../renderer.ts";
import { RENDERING_SECONDS, rendererName } from "../renderings.ts";
import type { Resources } from "../resources.ts";
import type { Secrets } from "../secrets.ts";
import type { Environment } from "./client-options.ts";
import { awsConverter } from "./converter.ts";
import { lambdaInvoke } from "./lambda-invoke.ts";
import { openAws } from "./platform.ts";
import { awsRenderer } from "./renderer.ts";
import { systemPause } from "./retries.ts";
import { type BundledScripts, bundledScripts } from "./scripts.ts";
import { awsServices } from "./services.ts";

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
  readonly renderer: Renderer;
}

/**
 * The AWS adapter inside a Lambda function. Its commands port rejects every command and its scripts have no access to
 * files: both need the workspace of a run, which only a worker has.
 */
export async function openLambdaPlatform(options: LambdaPlatformOptions): Promise<LambdaPlatform> {
  const { stack, resources, log, environment, secrets } = options;
  const services = awsServices({ environment });
  const { ports } = await openAws({
    stack,
    resources,
    log,
    environment,
    secrets,
    services,
    commands: { run: () => Promise.reject(commandRefused()) },
    scripts: bundledScripts(options.scripts),
  });
  const { blobs, ids } = ports;
  const invoker = (name: string, timeoutSeconds: number) =>
    lambdaInvoke({ environment, s3: services.s3, name, timeoutSeconds, pause: systemPause });
  return {
    ports,
    converter: awsConverter({ blobs, ids, log, invoke: invoker(converterName(stack), CONVERSION_SECONDS) }),
    renderer: awsRenderer({ blobs, ids, log, invoke: invoker(rendererName(stack), RENDERING_SECONDS) }),
  };
}

const commandRefused = (): PlatformFault =>
  new PlatformFault("command_not_started", "commands are executed by a worker, not in Lambda");
