import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { AwsClients } from "../../lib/platform/aws/clients.ts";
import * as dynamodbSdk from "../../lib/platform/aws/dynamodb-sdk.ts";
import { awsTables } from "../../lib/platform/aws/tables.ts";
import { openCloudSubject } from "../../lib/platform/contract/aws-subject.ts";
import { CONTRACT_RESOURCES } from "../../lib/platform/contract/resources.ts";
import type { Key, TableSpec, Tables, Write } from "../../lib/platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../lib/retry-on-conflict.ts";
import { ModelDynamoDb } from "./dynamodb.ts";
import { Units } from "./units.ts";
import { VirtualTime } from "./virtual-time.ts";

const [RESOURCE = { name: "", indexes: {} }] = CONTRACT_RESOURCES.tables;
const table: TableSpec<Key & { readonly count: number }> = RESOURCE;
const pk = randomUUID();
const keyOf = (sk: string): Key => ({ pk, sk });

/** A subject of the same tests: the adapter over DynamoDB Local, or over the model. */
interface Subject {
  readonly tables: Tables;
  run<Result>(work: Promise<Result>): Promise<Result>;
}

function modelSubject(): Subject {
  const time = new VirtualTime();
  const model = new ModelDynamoDb({
    tables: CONTRACT_RESOURCES.tables,
    stack: "model",
    time,
    units: new Units(() => time.now),
  });
  const { port } = awsTables({
    dynamodb: async () => ({ ...dynamodbSdk, client: model as unknown as AwsClients["dynamodb"] }),
    stack: "model",
    resources: CONTRACT_RESOURCES.tables,
    pause: (milliseconds) => time.sleep(milliseconds),
  });
  return {
    tables: port,
    run: async (work) => {
      const restore = time.install();
      try {
        return await time.runWhile(work);
      } finally {
        restore();
      }
    },
  };
}

const local = await openCloudSubject();
afterAll(() => local.close());
const SUBJECTS: readonly (readonly [string, Subject])[] = [
  ["DynamoDB Local", { tables: local.ports.tables, run: (work) => work }],
  ["the model", modelSubject()],
];

/** Adds one to each of some counters in one transaction, on the condition that they are unchanged. */
function increment(tables: Tables, sks: readonly string[]): Promise<void> {
  const attempt = async () => {
    const known = await tables.batchGet(table, sks.map(keyOf));
    const counts = new Map(known.map(({ sk, count }) => [sk, count]));
    const { ok } = await tables.write(
      sks.map((sk): Write => {
        const count = counts.get(sk);
        const when = count === undefined ? (["pk", "missing"] as const) : (["count", "=", count] as const);
        return { op: "put", table, item: { ...keyOf(sk), count: (count ?? 0) + 1 }, when: [when] };
      }),
    );
    return ok ? undefined : CONFLICT;
  };
  return retryOnConflict(attempt, { attempts: 200, exceeded: () => new Error("too many conflicts") });
}

describe.each(SUBJECTS)("conflicts in %s", (name, { tables, run }) => {
  const sk = (text: string): string => `${name} ${text}`;
  const countAt = async (text: string) => (await run(tables.get(table, keyOf(sk(text)))))?.count;

  it("concurrent transactions on overlapping items lose no increment", async () => {
    const pairs = Array.from({ length: 24 }, (_, at) => [sk(`c${at % 3}`), sk(`c${(at + 1) % 3}`)]);
    await run(Promise.all(pairs.map((sks) => increment(tables, sks))));
    expect(await Promise.all([0, 1, 2].map((at) => countAt(`c${at}`)))).toEqual([16, 16, 16]);
  });

  it("concurrent additions without a condition all count, in transactions too", async () => {
    const add = (text: string): Write => ({
      op: "update",
      table,
      key: keyOf(sk(text)),
      change: { add: { count: 1 } },
    });
    const writes = Array.from({ length: 12 }, (_, at) =>
      tables.write(at % 2 === 0 ? [add("sum")] : [add("sum"), add("other")]),
    );
    await run(Promise.all(writes));
    expect([await countAt("sum"), await countAt("other")]).toEqual([12, 6]);
  });

  it("a transaction writes all or nothing, and names the writes whose conditions failed", async () => {
    const put = (text: string, when?: Write["when"]): Write => ({
      op: "put",
      table,
      item: { ...keyOf(sk(text)), count: 1 },
      ...(when === undefined ? {} : { when }),
    });
    await run(tables.write([put("there")]));
    const missing = [["pk", "missing"]] as const;
    const outcome = await run(
      tables.write([
        put("new"),
        put("there", missing),
        put("also new", missing),
        put("third", [["pk", "exists"]]),
      ]),
    );
    expect(outcome).toEqual({ ok: false, failed: [1, 3] });
    expect(await countAt("new")).toBeUndefined();
  });

  it("one of several transactions with the same condition succeeds", async () => {
    const put: Write = {
      op: "put",
      table,
      item: { ...keyOf(sk("once")), count: 1 },
      when: [["pk", "missing"]],
    };
    const other = (at: number): Write => ({ op: "put", table, item: { ...keyOf(sk(`o${at}`)), count: at } });
    const outcomes = await run(Promise.all([0, 1, 2, 3, 4].map((at) => tables.write([put, other(at)]))));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(
      Array.from({ length: 4 }, () => ({ ok: false, failed: [0] })),
    );
  });
});
