import { randomUUID } from "node:crypto";
import { type AwsClients, awsClients, servicesOf } from "../aws/clients.ts";
import { type AwsOptions, type AwsPlatform, blobsBucketOf, openAws } from "../aws/platform.ts";
import { provision } from "../aws/provision/provision.ts";
import { silentLog } from "../embedded/test-platform.ts";
import type { Resources } from "../resources.ts";
import { timersTable } from "../timers-table.ts";
import { blueprintOf } from "./blueprint.ts";
import { CONTRACT_RESOURCES } from "./resources.ts";

const refuse = (): Promise<never> =>
  Promise.reject(new Error("commands and scripts are not available in this test"));

const { name, indexes } = timersTable;
const RESOURCES: Resources = {
  ...CONTRACT_RESOURCES,
  tables: [...CONTRACT_RESOURCES.tables, { name, indexes }],
};

/** The AWS platform of a test that runs no commands and no scripts. */
export function openAwsForTest(stack: string, more: Partial<AwsOptions> = {}): Promise<AwsPlatform> {
  const nothing = { run: refuse };
  return openAws({
    stack,
    resources: RESOURCES,
    log: silentLog,
    commands: nothing,
    scripts: nothing,
    ...more,
  });
}

export interface CloudSubject extends AwsPlatform {
  readonly stack: string;
  readonly clients: AwsClients;
}

/** A platform at the environment's endpoint, in a new stack that has the contract's resources. */
export async function openCloudSubject(): Promise<CloudSubject> {
  const stack = `contract-${randomUUID().slice(0, 8)}`;
  const clients = awsClients(process.env);
  await provision(blueprintOf(stack, blobsBucketOf(stack), RESOURCES), { clients });
  const platform = await openAwsForTest(stack, { services: servicesOf(clients) });
  return { ...platform, stack, clients, close: async () => clients.close() };
}
