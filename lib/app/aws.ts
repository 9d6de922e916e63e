import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Environment, openLambdaPlatform, openParameterStore } from "#lib/platform/aws/open.ts";
import { type Authenticator, hashToken, ownerAuthenticator } from "../http/auth.ts";
import { systemClock } from "../platform/clock.ts";
import { jsonLog } from "../platform/json-log.ts";
import { openOnce } from "../platform/open-once.ts";
import type { Ports } from "../platform/ports.ts";
import { parseQueueNames } from "../platform/queue-names.ts";
import type { QueueResource } from "../platform/resources.ts";
import { NO_SECRETS, type Secrets } from "../platform/secrets.ts";
import { PRODUCT_VERSION } from "../product-version.ts";
import { type Config, readConfig } from "../settings/config.ts";
import { STORED_SETTINGS } from "../settings/function-settings.ts";
import { llmKeys } from "../settings/llm.ts";
import { consumerEnvironment } from "../settings/read.ts";
import { tables } from "../tables.ts";
import { checkStoredRelease } from "../upgrades/release-state.ts";
import { releaseOf } from "../upgrades/releases.ts";
import {
  composeDeps,
  composeDocumentDeps,
  composeExecutorDeps,
  type Deps,
  type DocumentDeps,
  type ExecutorDeps,
} from "./compose.ts";

export type { Deps, DocumentDeps } from "./compose.ts";

// A Lambda function imports the opener that it calls; esbuild leaves the others out of its bundle. Each opens once in a
// container, and opens again after a failure. On one machine the server passes its own dependencies to a function:
// nothing here is called.

/** Opens the dependencies of an endpoint, or of a consumer that reads secrets: with the parameter store. */
export const openDeps: () => Promise<Deps> = /* @__PURE__ */ openOnce(() =>
  openStoredDeps(process.env, composeDeps).then(checkRelease),
);

/** Opens the dependencies of a consumer, without the parameter store: its client would be a ninth of the bundle. */
export const openConsumerDeps: () => Promise<Deps> = /* @__PURE__ */ openOnce(() =>
  openLambdaDeps(consumerEnvironment(process.env), composeDeps).then(checkRelease),
);

/** Opens the dependencies of an endpoint that reads or writes the content of documents. */
export const openDocumentDeps: () => Promise<DocumentDeps> = /* @__PURE__ */ openOnce(() =>
  openStoredDeps(process.env, composeDocumentDeps).then(checkRelease),
);

/** Opens the dependencies of a consumer that reads or writes the content of documents. */
export const openDocumentConsumerDeps: () => Promise<DocumentDeps> = /* @__PURE__ */ openOnce(() =>
  openLambdaDeps(consumerEnvironment(process.env), composeDocumentDeps).then(checkRelease),
);

/** Opens the dependencies of an executor of steps, which has no tables. */
export const openExecutorDeps: () => Promise<ExecutorDeps> = /* @__PURE__ */ openOnce(() =>
  openStoredDeps(process.env, composeExecutorDeps),
);

/** Composes the dependencies that a function uses: what it composes is in its bundle. */
type Compose<Composed> = (ports: Ports, config: Config, own: Parameters<typeof composeDeps>[2]) => Composed;

/** Throws UpgradeError unless the stored data is of this release. */
async function checkRelease<Composed extends Deps>(deps: Composed): Promise<Composed> {
  const start = "start a server of this release on the stack once, with WEFT_PLATFORM=aws";
  await checkStoredRelease(deps.tables, releaseOf(PRODUCT_VERSION), start);
  return deps;
}

/** Opens dependencies with the owner's token and the secrets of workflows, which are in the parameter store. */
export async function openStoredDeps<Composed>(
  given: Environment,
  compose: Compose<Composed>,
): Promise<Composed> {
  const store = await openParameterStore(given);
  const environment = await store.addSettings(given, STORED_SETTINGS);
  const secrets = store.openSecrets(environment.WEFT_SECRETS_PATH || undefined, systemClock);
  const config = readConfig(environment);
  for (const key of [...llmKeys(config.llm), ...config.documents.secrets]) secrets.alsoRedact(key);
  const readToken = openOnce(async () => {
    const token =
      environment.WEFT_ACCESS_TOKEN ||
      (await store.readParameter(readVariable(environment, "WEFT_ACCESS_TOKEN_PARAMETER")));
    secrets.alsoRedact(token.trim());
    return ownerAuthenticator(hashToken(token.trim()));
  });
  // The token is read with the first request: consumers never use it.
  const auth: Authenticator = {
    authenticate: async (token) => (await readToken()).authenticate(token),
    isValid: async (credentialId) => (await readToken()).isValid(credentialId),
  };
  return openLambdaDeps(environment, compose, { secrets, auth });
}

/** What functions read in the parameter store. */
interface StoredAccess {
  readonly secrets: Secrets;
  readonly auth: Authenticator;
}

const rejectRequest = (): Promise<never> => Promise.reject(new Error("this function handles no requests"));

/** Opens dependencies over AWS, for a function of the stack that the environment names. Throws if a setting is missing. */
async function openLambdaDeps<Composed>(
  environment: Environment,
  compose: Compose<Composed>,
  stored: StoredAccess = {
    secrets: NO_SECRETS,
    auth: { authenticate: rejectRequest, isValid: rejectRequest },
  },
): Promise<Composed> {
  const config = readConfig(environment);
  const stack = readVariable(environment, "WEFT_STACK");
  const queues = readQueues(readVariable(environment, "WEFT_QUEUES"));
  const { secrets, auth } = stored;
  const { ports, converter, renderer } = await openLambdaPlatform({
    stack,
    resources: { tables: Object.values(tables), queues, rules: [], schedules: [] },
    log: jsonLog({ redact: secrets.redact }),
    environment,
    secrets,
    scripts: {
      folder: new URL("./", import.meta.url),
      functionsModule: new URL("./library-without-files.mjs", import.meta.url),
    },
  });
  // Lambda's runtime interface listens on the loopback address.
  const network = { ...config.network, loopback: "deny" } as const;
  return compose(
    ports,
    { ...config, network },
    {
      auth,
      converter,
      renderer,
      // These folders stay empty: a worker executes the steps that use files.
      paths: {
        workspacesDir: join(tmpdir(), "workspaces"),
        logsDir: join(tmpdir(), "runs"),
        snapshotsDir: join(tmpdir(), "snapshots-unfinished"),
      },
      queueNames: queues.map(({ name }) => name),
      queueNamePrefix: `${stack}-`,
      sharesWorkspaces: true,
      fireTriggers: async (...given) =>
        (await import("../workflows/triggers/fire-triggers.ts")).fireTriggers(...given),
    },
  );
}

/** Returns the value of an environment variable. Throws if it is not set. */
function readVariable(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

/**
 * Reads the stack's queues as the template lists them: `conduct.fifo bash …`. Only pollers use the other attributes of a
 * queue, and in AWS Lambda polls.
 */
function readQueues(text: string): QueueResource[] {
  return parseQueueNames(text).map((name) => ({
    name: name.replace(/\.fifo$/, ""),
    fifo: name.endsWith(".fifo"),
    visibilitySeconds: 0,
    retentionSeconds: 0,
  }));
}
