import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { blobsBucketOf } from "../lib/platform/aws/platform.ts";
import { provision } from "../lib/platform/aws/provision/provision.ts";
import { blueprintOfTemplate } from "./provision/template.ts";

/** LocalStack's default endpoint. */
const LOCALSTACK = "http://127.0.0.1:4566";
const TEMPLATE = new URL("../template.yaml", import.meta.url);

/**
 * Creates the template's tables, queues, bus, rules and bucket at `AWS_ENDPOINT_URL`; existing ones are kept and get
 * the template's settings. Returns the number of each.
 */
export async function provisionTemplate(
  stack: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Readonly<Record<string, number>>> {
  const bucket = environment.WEFT_BLOBS_BUCKET || blobsBucketOf(stack);
  const blueprint = blueprintOfTemplate(readFileSync(TEMPLATE, "utf8"), stack, bucket, (location) =>
    readFileSync(new URL(location, TEMPLATE), "utf8"),
  );
  await provision(blueprint, { environment });
  return Object.fromEntries(Object.entries(blueprint).map(([kind, list]) => [kind, list.length]));
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { stack: { type: "string", default: "weft" } } });
  // Never AWS itself by accident: CloudFormation deploys the template there.
  process.env.AWS_ENDPOINT_URL ||= LOCALSTACK;
  process.env.AWS_ACCESS_KEY_ID ||= "test";
  process.env.AWS_SECRET_ACCESS_KEY ||= "test";
  const counts = await provisionTemplate(values.stack, process.env);
  const text = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  console.log(`${values.stack} at ${process.env.AWS_ENDPOINT_URL}: ${text.join(", ")}`);
}

if (import.meta.main) await main();
