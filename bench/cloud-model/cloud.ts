import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { composeDocumentDeps, type DocumentDeps } from "../../lib/app/compose.ts";
import { planUser } from "../../lib/documents/users/users.ts";
import type { ConsumerHandler } from "../../lib/events/consumer.ts";
import { type Authenticator, hashToken, ownerAuthenticator } from "../../lib/http/auth.ts";
import type { Handler, ProxyResult } from "../../lib/http/handler.ts";
import { type AwsClients, servicesOf } from "../../lib/platform/aws/clients.ts";
import { openAws } from "../../lib/platform/aws/open.ts";
import { systemIds } from "../../lib/platform/ids.ts";
import type { Log } from "../../lib/platform/log.ts";
import { timersTable } from "../../lib/platform/timers-table.ts";
import { readConfig } from "../../lib/settings/config.ts";
import { tables } from "../../lib/tables.ts";
import { fireTriggers } from "../../lib/workflows/triggers/fire-triggers.ts";
import { readTemplate, type TemplateFunction } from "../../localstack/template.ts";
import { createTemporaryFolder } from "../harness/cleanup.ts";
import { ModelBus } from "./bus.ts";
import { ModelDynamoDb } from "./dynamodb.ts";
import { Containers, handlerOf, pollQueue } from "./functions.ts";
import { ModelS3 } from "./object-storage.ts";
import { ModelQueue, ModelSqs } from "./queues.ts";
import { Units } from "./units.ts";
import { VirtualTime } from "./virtual-time.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STACK = "model";
const TOKEN = "a-token-of-the-model";
/** A token with this prefix and an id authenticates a user. */
const USER_TOKEN = "user-";
const START_MS = Date.parse("2026-03-02T10:00:00Z");
/** Milliseconds that the evaluation of a script takes. */
const SCRIPT_MS = 5;

const owner = ownerAuthenticator(hashToken(TOKEN));
const USERS: Authenticator = {
  authenticate: async (token) =>
    token.startsWith(USER_TOKEN)
      ? { kind: "user", id: token.slice(USER_TOKEN.length) }
      : owner.authenticate(token),
  isValid: async () => true,
};

/** A request to an endpoint. */
export interface ModelRequest {
  readonly method: string;
  /** Of the route in the template, such as `/automation/runs`. */
  readonly route: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Id of the user that sends the request; default: the owner. */
  readonly user?: string;
}

/** Errors that functions logged, by message. */
type Errors = Map<string, number>;

/** The template's functions, with the adapter of AWS over models of its services, in virtual time. */
export class ModelCloud {
  readonly time = new VirtualTime();
  readonly units = new Units(() => this.time.now);
  readonly dynamodb: ModelDynamoDb;
  readonly queues: readonly ModelQueue[];
  readonly bus: ModelBus;
  readonly s3: ModelS3;
  readonly errors: Errors = new Map();
  readonly functions = new Map<string, Containers<DocumentDeps>>();
  readonly #template = readTemplate(`${ROOT}/template.yaml`);
  readonly #clients: Omit<AwsClients, "close">;
  readonly #folder = createTemporaryFolder("cloud-model");
  readonly #restore: () => void;

  constructor() {
    const { time, units } = this;
    this.#restore = time.install();
    const { resources } = this.#template;
    const has = new Set(resources.tables.map(({ name }) => name));
    this.dynamodb = new ModelDynamoDb({
      tables: has.has(timersTable.name) ? resources.tables : [...resources.tables, timersTable],
      stack: STACK,
      time,
      units,
    });
    this.queues = resources.queues.map((queue) => new ModelQueue(queue, time, units));
    const sqs = new ModelSqs(this.queues, STACK, time);
    this.bus = new ModelBus({ rules: resources.rules, sqs, stack: STACK, time, units });
    this.s3 = new ModelS3(time);
    this.#clients = {
      dynamodb: this.dynamodb,
      sqs,
      eventbridge: this.bus,
      s3: this.s3,
    } as unknown as AwsClients;
  }

  close(): void {
    this.#restore();
  }

  /** Opens the dependencies of a container. */
  readonly #open = async (): Promise<DocumentDeps> => {
    const clock = { now: () => START_MS + this.time.now };
    const { ports } = await openAws({
      stack: STACK,
      resources: { ...this.#template.resources, tables: Object.values(tables) },
      log: countingLog(this.errors),
      clock,
      services: servicesOf(this.#clients),
      environment: {},
      bucket: "blobs",
      pause: (milliseconds) => this.time.sleep(milliseconds),
      commands: { run: () => Promise.reject(new Error("the model starts no programs")) },
      scripts: {
        run: async () => {
          await this.time.sleep(SCRIPT_MS);
          return { ok: true, value: 2, events: [], logs: [] };
        },
      },
    });
    const config = readConfig({
      RUNS_CONCURRENCY_MAX: "10000",
      TRIGGER_FIRES_PER_MINUTE: "1000000",
      API_DOCUMENT_THROTTLE_RATE: "1000000/second",
      WEFT_PLATFORM: "aws",
      WEFT_STACK: STACK,
    });
    return composeDocumentDeps({ ...ports, ids: systemIds(clock) }, config, {
      auth: USERS,
      paths: {
        workspacesDir: `${this.#folder}/workspaces`,
        logsDir: `${this.#folder}/runs`,
        snapshotsDir: `${this.#folder}/snapshots`,
      },
      fireTriggers,
      queueNames: this.#template.resources.queues.map(({ name }) => name),
      sharesWorkspaces: true,
    });
  };

  #containers(fn: TemplateFunction): Containers<DocumentDeps> {
    const known = this.functions.get(fn.logicalId) ?? new Containers(this.#open);
    this.functions.set(fn.logicalId, known);
    return known;
  }

  /** Starts the pollers of all queues, except those of some functions. */
  async startPollers(but: readonly string[] = []): Promise<void> {
    for (const fn of this.#template.functions) {
      if (fn.sources.length === 0 || but.some((name) => fn.entry.endsWith(`/${name}.ts`))) continue;
      const handler = (await handlerOf(ROOT, fn)) as ConsumerHandler;
      for (const source of fn.sources) {
        const queue = this.queues.find(({ resource }) => resource.name === source.queue);
        if (queue !== undefined)
          pollQueue({ time: this.time, queue, source, handler, containers: this.#containers(fn) });
      }
    }
  }

  /** Creates users; returns their ids. */
  async createUsers(count: number): Promise<readonly string[]> {
    const deps = await this.#open();
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const email = `user-${at}@a.example`;
      const { user, writes } = planUser(deps, { sub: `sub-${at}`, email, full_name: null, short_name: null });
      await deps.tables.write(writes);
      ids.push(user.id);
    }
    return ids;
  }

  /** Returns a caller of a route: each call is one invocation of its function. */
  async caller(
    method: string,
    path: string,
  ): Promise<(request: Omit<ModelRequest, "method" | "route">) => Promise<ProxyResult>> {
    const fn = this.#template.functions.find(({ routes }) =>
      routes.some((route) => route.method === method && route.path === path),
    );
    if (fn === undefined || !existsSync(`${ROOT}/${fn.entry}`)) throw new Error(`no route ${method} ${path}`);
    const handler = (await handlerOf(ROOT, fn)) as Handler;
    const containers = this.#containers(fn);
    return ({ params, body, user }) =>
      containers.invoke(this.time, 1, (deps) =>
        handler(
          {
            httpMethod: method,
            path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params?.[name] ?? ""),
            headers: {
              authorization: `Bearer ${user === undefined ? TOKEN : `${USER_TOKEN}${user}`}`,
              "content-type": "application/json",
            },
            pathParameters: params ?? null,
            queryStringParameters: null,
            body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
            isBase64Encoded: false,
          },
          { weft: deps },
        ),
      );
  }

  /** Messages and entries that wait or are in progress. */
  get backlog(): number {
    return this.queues.reduce((sum, { depth }) => sum + depth, this.bus.underWay);
  }
}

function countingLog(errors: Errors): Log {
  const count = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { error } = fields;
    const text = error instanceof Error ? `${message}: ${error.message.slice(0, 120)}` : message;
    errors.set(text, (errors.get(text) ?? 0) + 1);
  };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: count,
    error: count,
    with: () => log,
  };
  return log;
}
