import type { ModelCloud } from "./cloud.ts";
import type { Scenario } from "./measure.ts";
import { keyText } from "./model-table.ts";

const OK_MAX = 299;

/** A caller of a route that rejects if the response is an error. */
async function successful(cloud: ModelCloud, method: string, path: string) {
  const call = await cloud.caller(method, path);
  return async (request: Parameters<typeof call>[0]): Promise<unknown> => {
    const { statusCode, body } = await call(request);
    if (statusCode > OK_MAX) throw new Error(`${method} ${path}: ${statusCode} ${body.slice(0, 120)}`);
    return body === "" ? undefined : JSON.parse(body);
  };
}

async function storeWorkflow(cloud: ModelCloud, yaml: string): Promise<void> {
  const create = await successful(cloud, "POST", "/automation/workflows");
  await create({ body: { yaml } });
}

/** Rows of a table whose partition begins with a text. */
function countRows(cloud: ModelCloud, table: string, partition: string): number {
  let count = 0;
  for (const { item } of cloud.dynamodb.table(`model-${table}`).all())
    if (keyText(item, "pk").startsWith(partition)) count += 1;
  return count;
}

const unindexedEvents = (cloud: ModelCloud): number => countRows(cloud, "event-tail", "tail#");

const functionSteps = (count: number): string =>
  Array.from({ length: count }, (_, at) => `  - { name: s${at}, type: function, function: "1 + 1" }`).join(
    "\n",
  );

/** Workspaces that the runs of a measurement use. */
const WORKSPACES = 200;
const DOCUMENTS = 1_600;
const USERS = 200;

interface OwnDocument {
  readonly id: string;
  readonly user: string;
}

/** Creates documents of several users. */
async function createDocuments(cloud: ModelCloud): Promise<readonly OwnDocument[]> {
  const create = await successful(cloud, "POST", "/api/v1.0/documents");
  const users = await cloud.createUsers(USERS);
  const documents: OwnDocument[] = [];
  for (let at = 0; at < DOCUMENTS; at += 1) {
    const user = users[at % USERS] ?? "";
    const { id } = (await create({ user, body: { title: `Plan ${at}` } })) as { id: string };
    documents.push({ id, user });
  }
  return documents;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "events",
    unit: "events/s",
    waitsPerUnit: 1,
    target: 3_000,
    waiting: unindexedEvents,
    prepare: async (cloud) => {
      const emit = await successful(cloud, "POST", "/automation/events/emit");
      return async (index) => {
        await emit({ body: { topic: `custom.topic-${index % 20}`, data: { n: index, host: "a.example" } } });
      };
    },
  },
  {
    name: "starts of one trigger",
    unit: "starts/s",
    waitsPerUnit: 2,
    target: 1_000,
    // The runs themselves are measured by the next scenario.
    without: ["conduct"],
    waiting: (cloud) =>
      unindexedEvents(cloud) -
      cloud.queues.reduce((sum, { resource, depth }) => sum + (resource.name === "conduct" ? depth : 0), 0),
    prepare: async (cloud) => {
      await storeWorkflow(
        cloud,
        `name: started\ntriggers:\n  - { name: on-start, type: event, topic: custom.start }\nsteps:\n${functionSteps(1)}\n`,
      );
      const emit = await successful(cloud, "POST", "/automation/events/emit");
      return async (index) => {
        await emit({ body: { topic: "custom.start", data: { n: index }, workspace: "shared" } });
      };
    },
  },
  {
    name: "runs of three steps",
    unit: "runs/s",
    waitsPerUnit: 8,
    target: 500,
    waiting: (cloud) => unindexedEvents(cloud),
    prepare: async (cloud) => {
      await storeWorkflow(
        cloud,
        `name: three\npreferences: { disable_logging: true }\nsteps:\n${functionSteps(3)}\n`,
      );
      const start = await successful(cloud, "POST", "/automation/runs");
      return async (index) => {
        await start({ body: { module: "three", target: `t${index}`, workspace: `w${index % WORKSPACES}` } });
      };
    },
  },
  {
    name: "document changes",
    unit: "changes/s",
    waitsPerUnit: 1,
    target: 5_000,
    prepare: async (cloud) => {
      const documents = await createDocuments(cloud);
      const update = await successful(cloud, "PATCH", "/api/v1.0/documents/{id}");
      return async (index) => {
        const { id = "", user = "" } = documents[index % DOCUMENTS] ?? {};
        await update({ user, params: { id }, body: { title: `Plan ${index}` } });
      };
    },
  },
];

/** The first GET of a document by a user, which records the visit. Measured for its cost only. */
export const FIRST_READ: Scenario = {
  name: "first GET of a document",
  unit: "reads/s",
  waitsPerUnit: 1,
  target: 0,
  prepare: async (cloud) => {
    const documents = await createDocuments(cloud);
    const get = await successful(cloud, "GET", "/api/v1.0/documents/{id}");
    return async (index) => {
      const { id = "", user = "" } = documents[index % DOCUMENTS] ?? {};
      await get({ user, params: { id } });
    };
  },
};
