import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PutParameterCommand } from "@aws-sdk/client-ssm";
import { openStoredDeps } from "../../lib/app/aws.ts";
import { composeDocumentDeps, type DocumentDeps } from "../../lib/app/compose.ts";
import { openWorker } from "../../lib/app/worker.ts";
import type { Handler } from "../../lib/http/handler.ts";
import { openNetwork } from "../../lib/network/network.ts";
import { parameterStore } from "../../lib/platform/aws/parameters.ts";
import { blobsBucketOf } from "../../lib/platform/aws/platform.ts";
import { converterName } from "../../lib/platform/conversions.ts";
import { startRunner } from "../../lib/platform/embedded/runner/client.ts";
import { jsonLog } from "../../lib/platform/json-log.ts";
import { rendererName } from "../../lib/platform/renderings.ts";
import { consumerEnvironment } from "../../lib/settings/read.ts";
import { startTestOidcProvider, type TestOidcProvider } from "../../lib/testing/test-oidc-provider.ts";
import { type AnyHandler, createFunctions, type Functions } from "../../localstack/functions.ts";
import { startGateway } from "../../localstack/gateway.ts";
import { installLambdaRuntime, type LocalResponseStream, START } from "../../localstack/lambda-runtime.ts";
import { startPollers } from "../../localstack/pollers.ts";
import { readTemplateFiles, type TemplateFunction } from "../../localstack/template.ts";
import { startWorker } from "../../localstack/worker.ts";
import { provisionTemplate } from "../provision.ts";
import { settingDefaults } from "../template/step-settings.ts";
import { type DeployedRoles, readRoles, WORKER } from "./policies.ts";
import type { Recorder } from "./test-recorder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DRAIN_MS = 5_000;

/** The functions of the template on emulators, each with its own dependencies as in a Lambda container. */
export interface Installation extends AsyncDisposable {
  /** One per service. */
  readonly roles: readonly DeployedRoles[];
  /** The owner's token, from the parameter store. */
  readonly token: string;
  /** The token of a server that creates documents for users. */
  readonly serverToken: string;
  /** The key of the collaboration server. */
  readonly collaborationKey: string;
  /** Where users log in. */
  readonly provider: TestOidcProvider;
  /** `http://HOST:PORT` of the gateway. */
  readonly url: string;
  /** Invokes a function as Lambda does; returns its result. */
  call(logicalId: string, event: unknown): Promise<unknown>;
  /** The stack's resources, for callers other than its functions. */
  readonly outside: DocumentDeps;
  /** From now on scripts work on documents as the user with this email address, instead of the owner. */
  writeAs(email: string): void;
  /** Starts polling the queues; a worker polls those that Lambda does not. */
  poll(): Promise<void>;
  /** The functions' log so far. */
  log(): string;
}

/**
 * Creates the template's resources in a stack of their own and opens its functions with the template's environment:
 * those of workers as a worker does, the others as Lambda does, except for scripts, which are bundled there.
 * `clockOf` returns a function's clock.
 */
export async function openInstallation(
  recorder: Recorder,
  clockOf: (logicalId: string) => DocumentDeps["clock"] | undefined,
): Promise<Installation> {
  const stack = `roles-${randomUUID().slice(0, 8)}`;
  const bucket = blobsBucketOf(stack);
  const [token, serverToken, collaborationKey] = [randomUUID(), randomUUID(), randomUUID()];
  const provider = await startTestOidcProvider();
  const { OIDC_RP_CLIENT_SECRET = "", OIDC_OP_URL = "", OIDC_TIMEOUT = "", ...login } = provider.settings;
  const parameters = {
    token: `/${stack}/token`,
    secrets: `/${stack}/secrets`,
    documents: `/${stack}/documents`,
  };
  await provisionTemplate(stack, process.env);
  await store({
    [parameters.token]: token,
    [`${parameters.secrets}/TOUR_KEY`]: randomUUID(),
    [`${parameters.documents}/OIDC_RS_PRIVATE_KEY_STR`]: privateKey(),
    [`${parameters.documents}/Y_PROVIDER_API_KEY`]: collaborationKey,
    [`${parameters.documents}/PRIMARY_SDK_API_KEY`]: randomUUID(),
    [`${parameters.documents}/OIDC_RP_CLIENT_SECRET`]: OIDC_RP_CLIENT_SECRET,
    [`${parameters.documents}/SERVER_TO_SERVER_API_TOKENS`]: serverToken,
    [`${parameters.documents}/THEME_CUSTOMIZATION_FILE_PATH`]: '{"name":"tour"}',
    [`${parameters.secrets}/DJANGO_EMAIL_HOST_PASSWORD`]: randomUUID(),
  });
  const values = {
    ...settingDefaults(),
    StackName: stack,
    EventBusName: stack,
    BlobsBucketName: bucket,
    AccessTokenParameter: parameters.token,
    SecretsPath: parameters.secrets,
    DocumentSecretsPath: parameters.documents,
    DocumentSecrets:
      "OIDC_RS_PRIVATE_KEY_STR, Y_PROVIDER_API_KEY, PRIMARY_SDK_API_KEY, OIDC_RP_CLIENT_SECRET, SERVER_TO_SERVER_API_TOKENS, THEME_CUSTOMIZATION_FILE_PATH",
    OidcOpUrl: OIDC_OP_URL,
    OidcTimeout: OIDC_TIMEOUT,
    DocumentSettings: JSON.stringify({
      ...login,
      LOGIN_REDIRECT_URL: "/in",
      CONVERSION_UPLOAD_ENABLED: "true",
      CONVERSION_FILE_EXTENSIONS_ALLOWED: ".md,.zip",
      API_DOCUMENT_THROTTLE_RATE: "off",
      AI_FEATURE_ENABLED: "true",
      AI_MODEL: "tour",
      // Nothing listens on this port.
      PRIMARY_SDK_BASE_URL: "http://127.0.0.1:1/v1",
    }),
    HttpStepPrivateAddresses: "allow",
    // Nothing listens on this port.
    LlmBaseUrl: "http://127.0.0.1:1/v1",
    LlmModel: "tour",
    EmailHost: "127.0.0.1",
    EmailPort: "1",
    EmailHostUser: "tour",
    EventLogRetention: "7d",
    RunRetention: "7d",
  };
  const { template, files } = readTemplateFiles(join(ROOT, "template.yaml"));
  const { functions, resources } = template;
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  // The main template and the stack of the collaboration server have no functions.
  const roles = texts
    .filter((text) => text.includes("Type: AWS::Serverless::Function"))
    .map((text) => readRoles(text, values));
  const contentFunctions = new Map([
    [converterName(stack), "ConverterFunction"],
    [rendererName(stack), "RendererFunction"],
  ]);
  // In addition to the template's environment: the endpoint of AWS, and nothing else of this process.
  const lambda = await startLambda((name, event) => {
    const logicalId = contentFunctions.get(name);
    if (logicalId === undefined) throw new Error(`unknown function: ${name}`);
    return invokeFunction(invoke, functions, logicalId, event);
  });
  const aws = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("AWS_"))),
    AWS_ENDPOINT_URL_LAMBDA: lambda.url,
  };
  const environments = new Map(
    roles.flatMap((stackRoles) =>
      stackRoles.functions.map(
        ({ logicalId, environment }) => [logicalId, { ...aws, ...environment }] as const,
      ),
    ),
  );
  const lines: string[] = [];
  const log = jsonLog({ level: "warn", write: (line) => lines.push(line) });
  const folder = await mkdtemp(join(tmpdir(), "weft-roles-"));
  const runner = await startRunner({
    log,
    functionsModule: new URL("../../lib/workflows/script-library/library.ts", import.meta.url),
  });

  /** The value of the setting, which can be changed. */
  let writerEmail = "";
  const workers: { close(): Promise<void> }[] = [];
  /** Every worker has its own folder, as if each ran on another machine. */
  const depsOf = async ({ logicalId, worker, entry }: TemplateFunction): Promise<unknown> => {
    const all = environments.get(logicalId) ?? {};
    const environment = entry.startsWith("functions/consumers/") ? consumerEnvironment(all) : all;
    // They only use the bucket.
    if ([...contentFunctions.values()].includes(logicalId)) return { blobs: outside.blobs };
    if (worker) {
      const opened = await openWorker({
        dataDir: join(folder, logicalId),
        stack,
        resources,
        log,
        environment,
      });
      workers.push(opened);
      return opened.deps;
    }
    const clock = clockOf(logicalId);
    // The tour sends requests to the local gateway, which a function in AWS could not reach.
    const network = openNetwork({ privateAddresses: "allow", loopback: "as private" });
    const { scripts } = runner;
    const stored = await openStoredDeps(environment, (ports, config, ownDeps) => {
      const documents = Object.defineProperty({ ...config.documents }, "workflowsEmail", {
        get: () => writerEmail,
      });
      return composeDocumentDeps({ ...ports, scripts }, { ...config, documents }, ownDeps);
    });
    const deps = { ...stored, log, network };
    return clock === undefined ? deps : { ...deps, clock };
  };
  installLambdaRuntime();
  const invoke = createFunctions({
    root: ROOT,
    deps: undefined,
    // Settings are read when a function opens.
    load: async (fn) => {
      const actor = fn.worker ? WORKER : fn.logicalId;
      const weft = await recorder.within(actor, () => depsOf(fn));
      return recorded(recorder, actor, await handlerOf(fn), weft);
    },
  });
  const gateway = await startGateway({ functions, invoke, log, host: "127.0.0.1", port: 0 });
  const [first] = environments.values();
  const outside = await openStoredDeps(first ?? {}, composeDocumentDeps);
  const pollers: { drain(boundMs: number): Promise<void> }[] = [];
  return {
    roles,
    token,
    serverToken,
    collaborationKey,
    provider,
    outside,
    url: gateway.url,
    call: (logicalId, event) => invokeFunction(invoke, functions, logicalId, event),
    writeAs: (email) => {
      writerEmail = email;
    },
    poll: async () => {
      const ofLambda = functions.filter(({ worker }) => !worker);
      pollers.push(startPollers({ functions: ofLambda, invoke, queues: outside.queues, log }));
      // The worker itself, with only the rights of its role.
      const ofWorker = roles.flatMap((one) =>
        one.functions.filter(({ actor }) => actor === WORKER).map((fn) => [one, fn] as const),
      );
      const [its] = ofWorker;
      if (its === undefined) throw new Error("the template has no worker functions");
      const [{ granted }, { logicalId, role }] = its;
      // Steps that wait to be cancelled must not block others, whatever the machine's size.
      const environment = { ...environments.get(logicalId), STEPS_CONCURRENCY_MAX: "100" };
      const worker = await recorder.within(
        WORKER,
        () =>
          startWorker({
            environment,
            stack,
            dataDir: join(folder, WORKER),
            writeLog: (line) => lines.push(line),
          }),
        granted.get(role) ?? [],
      );
      workers.push(worker);
    },
    log: () => lines.join(""),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([gateway.close(DRAIN_MS), ...pollers.map((one) => one.drain(DRAIN_MS))]);
      await Promise.all([runner, ...workers].map((one) => one.close()));
      lambda.close();
      await provider[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

async function store(parameters: Readonly<Record<string, string>>): Promise<void> {
  const { client } = await parameterStore(process.env)();
  for (const [Name, Value] of Object.entries(parameters))
    await client.send(new PutParameterCommand({ Name, Value, Type: "SecureString", Overwrite: true }));
  client.destroy();
}

async function handlerOf(fn: TemplateFunction): Promise<AnyHandler> {
  const module = (await import(pathToFileURL(join(ROOT, fn.entry)).href)) as Record<string, AnyHandler>;
  const handler = module[fn.handlerExport];
  if (handler === undefined) throw new Error(`${fn.entry} does not export ${fn.handlerExport}`);
  return handler;
}

interface Context {
  readonly awsRequestId: string;
  readonly signal: AbortSignal;
  getRemainingTimeInMillis(): number;
}

/** The handler with its own dependencies; keeps the marker of a streaming handler. */
function recorded(recorder: Recorder, name: string, handler: AnyHandler, weft: unknown): AnyHandler {
  const own: AnyHandler = (...args) => {
    const context = args.at(-1) as Context;
    const seen = {
      weft,
      awsRequestId: context.awsRequestId,
      signal: context.signal,
      getRemainingTimeInMillis: () => context.getRemainingTimeInMillis(),
    };
    return recorder.within(name, () => handler(...args.slice(0, -1), seen));
  };
  const { authenticate } = handler as Partial<Handler>;
  if (authenticate === undefined) return Object.assign(own, handler);
  return Object.assign(own, handler, {
    authenticate: ((event, context) =>
      recorder.within(name, () =>
        authenticate(event, { ...context, weft } as typeof context),
      )) satisfies Handler["authenticate"],
  });
}

function invokeFunction(
  invoke: Functions,
  functions: readonly TemplateFunction[],
  logicalId: string,
  event: unknown,
): Promise<unknown> {
  const fn = functions.find((one) => one.logicalId === logicalId);
  if (fn === undefined) throw new Error(`unknown function: ${logicalId}`);
  return invoke.start(fn, event, { requestId: randomUUID(), stream: () => DISCARDED }).result;
}

/** The response of a streaming function that is invoked without a gateway. */
const DISCARDED: LocalResponseStream = {
  [START]: () => {},
  write: () => true,
  end: () => {},
  once() {
    return this;
  },
  off() {
    return this;
  },
};

/** A fake of Lambda for functions that invoke others by name: without Docker, emulators do not run functions. */
interface TestLambda {
  /** For `AWS_ENDPOINT_URL_LAMBDA`. */
  readonly url: string;
  close(): void;
}

/** `call` gets the function's name and the payload; an error that it throws is returned as Lambda returns it. */
async function startLambda(call: (name: string, event: unknown) => Promise<unknown>): Promise<TestLambda> {
  const server = createServer(async (incoming, outgoing) => {
    const name = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(incoming.url ?? "")?.[1] ?? "";
    try {
      const answer = await call(name, await json(incoming));
      outgoing.end(JSON.stringify(answer));
    } catch (error) {
      outgoing.setHeader("x-amz-function-error", "Unhandled");
      outgoing.end(JSON.stringify({ errorMessage: String(error) }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
