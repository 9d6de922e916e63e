import { tmpdir } from "node:os";
import { join } from "node:path";
import type { composeDeps } from "./deps-compose.ts";
import type { Authenticator } from "./http/auth.ts";
import type { Environment } from "./platform/aws/clients.ts";
import { awsConverter } from "./platform/aws/converter.ts";
import { openAws } from "./platform/aws/platform.ts";
import { bundledScripts } from "./platform/aws/scripts.ts";
import { converterName } from "./platform/conversions.ts";
import { PlatformFault } from "./platform/faults.ts";
import { jsonLog } from "./platform/json-log.ts";
import type { Ports } from "./platform/ports.ts";
import type { QueueResource } from "./platform/resources.ts";
import { NO_SECRETS, type Secrets } from "./platform/secrets.ts";
import { type Config, readConfig } from "./settings/config.ts";
import { tables } from "./tables.ts";

/** What functions read in the parameter store: secrets of workflows, the owner's token. */
export interface StoredAccess {
  readonly secrets: Secrets;
  readonly auth: Authenticator;
}

/** Puts together what a function asks for, and no more: it is what its bundle holds. */
export type Compose<Composed> = (
  ports: Ports,
  config: Config,
  own: Parameters<typeof composeDeps>[2],
) => Composed;

/** For functions that ask for neither. */
const NOTHING_STORED: StoredAccess = {
  secrets: NO_SECRETS,
  auth: { authenticate: noRequests, isValid: noRequests },
};

function noRequests(): Promise<never> {
  return Promise.reject(new Error("this function handles no requests"));
}

/**
 * The services over AWS, for a function of the stack that the environment names. Commands of steps are not
 * started here, and scripts touch no files: that is done where the run's workspace is. Throws where a setting is
 * missing.
 */
export async function openAwsDeps<Composed>(
  environment: Environment,
  compose: Compose<Composed>,
  { secrets, auth }: StoredAccess = NOTHING_STORED,
): Promise<Composed> {
  const config = readConfig(environment);
  const stack = required(environment, "WEFT_STACK");
  const queues = readQueues(required(environment, "WEFT_QUEUES"));
  const log = jsonLog({ redact: secrets.redact });
  const platform = await openAws({
    stack,
    resources: { tables: Object.values(tables), queues, rules: [], schedules: [] },
    log,
    environment,
    secrets,
    commands: { run: () => Promise.reject(notHere()) },
    scripts: bundledScripts({
      folder: new URL("./", import.meta.url),
      functionsModule: new URL("./library-without-files.mjs", import.meta.url),
    }),
  });
  const { blobs, ids } = platform.ports;
  const converter = awsConverter({
    ...{ blobs, ids, log },
    open: async () => {
      const { lambdaInvoke } = await import("#lib/platform/aws/lambda-invoke.ts");
      return lambdaInvoke(environment, converterName(stack));
    },
  });
  // Lambda's own interface listens on the loopback address.
  const network = { ...config.network, loopback: "deny" } as const;
  return compose(
    platform.ports,
    { ...config, network },
    {
      auth,
      converter,
      // Nothing is kept in them: steps with files are a worker's.
      paths: {
        workspacesDir: join(tmpdir(), "workspaces"),
        logsDir: join(tmpdir(), "runs"),
        snapshotsDir: join(tmpdir(), "snapshots-unfinished"),
      },
      queueNames: queues.map(({ name }) => name),
      queueNamePrefix: `${stack}-`,
      sharesWorkspaces: true,
    },
  );
}

/** The value of a setting. Throws where it is not there. */
export function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

const notHere = (): PlatformFault =>
  new PlatformFault("command_not_started", "a command runs on a worker, not in Lambda");

/**
 * The stack's queues by name, as the template writes them: `conduct.fifo bash …`. What they are like else is
 * for their pollers to know, which in AWS are Lambda's.
 */
export function readQueues(text: string): QueueResource[] {
  return text
    .split(" ")
    .filter((name) => name !== "")
    .map((name) => ({
      name: name.replace(/\.fifo$/, ""),
      fifo: name.endsWith(".fifo"),
      visibilitySeconds: 0,
      retentionSeconds: 0,
    }));
}
