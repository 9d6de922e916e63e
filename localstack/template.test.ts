import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { makeTree } from "../infra/fixture-tree.ts";
import { scanFunctions } from "../infra/scan.ts";
import { templateText } from "../infra/template/sam-template.ts";
import { toTemplates } from "../infra/template/template.ts";
import { readTemplate, type Template, TemplateError } from "./template.ts";

await using tree = await makeTree();
const NESTED = "infra/stacks/workflows.yaml";
const generated = Object.fromEntries(
  [...toTemplates(await scanFunctions(tree.root))].map(([file, template]) => [file, templateText(template)]),
);
const main = generated["template.yaml"]!;
const nested = generated[NESTED]!;

/** Reads a main template, and the nested one that it names where it names one. */
async function read(text: string, nestedText = nested): Promise<Template> {
  await using folder = await makeTree({ "template.yaml": text, [NESTED]: nestedText });
  return readTemplate(join(folder.root, "template.yaml"));
}

/** The generated templates after a change of their resources by hand. */
function changed(change: (main: Resources, nested: Resources) => void): Promise<Template> {
  const parsed = [main, nested].map((text) => parse(text) as { Resources: Resources });
  change(parsed[0]!.Resources, parsed[1]!.Resources);
  return read(...(parsed.map((template) => stringify(template)) as [string, string]));
}

type Resources = Record<string, Record<string, never>>;

const template = await read(main);

describe("readTemplate", () => {
  it("names queues as their consumers, with their dead letters", () => {
    expect(template.resources.queues.filter(({ name }) => /^(?:conduct|bash)/.test(name))).toEqual([
      {
        name: "conduct",
        fifo: true,
        highThroughput: true,
        visibilitySeconds: 120,
        retentionSeconds: 1209600,
        deadLetter: { queue: "conduct-dead-letters", maxReceiveCount: 8 },
      },
      { name: "conduct-dead-letters", fifo: true, visibilitySeconds: 120, retentionSeconds: 1209600 },
      {
        name: "bash",
        fifo: false,
        visibilitySeconds: 60,
        retentionSeconds: 1209600,
        deadLetter: { queue: "bash-dead-letters", maxReceiveCount: 5 },
      },
      { name: "bash-dead-letters", fifo: false, visibilitySeconds: 120, retentionSeconds: 1209600 },
    ]);
  });

  it("reads tables, rules and schedules", () => {
    expect(template.resources.tables).toEqual([
      { name: "event-log", indexes: {} },
      { name: "runs", indexes: { "by-state": { pk: "state", sk: "sk" } } },
    ]);
    expect(template.resources.rules).toEqual([
      { name: "index-events", pattern: { source: ["weft.events"] }, queues: ["index-events"] },
      { name: "bash", pattern: { source: ["weft.commands"], detail: { type: ["bash"] } }, queues: ["bash"] },
    ]);
    expect(template.resources.schedules).toEqual([
      { name: "fire", expression: "rate(1 minute)", queues: ["fire"] },
    ]);
  });

  it("reads the function of a route", () => {
    const [list, emit] = template.functions;

    expect(list?.routes).toEqual([{ method: "GET", path: "/automation/event-logs", stream: true }]);
    expect(emit).toEqual({
      logicalId: "EmitEventFunction",
      entry: "functions/workflows/events/emit.ts",
      handlerExport: "handler",
      timeoutSeconds: 29,
      memoryMb: 1024,
      bodyLimitBytes: 2048,
      worker: false,
      routes: [{ method: "POST", path: "/automation/events/emit", stream: false }],
      sources: [],
    });
  });

  it("reads the function of a consumer, with its sources", () => {
    const byId = new Map(template.functions.map((found) => [found.logicalId, found]));

    expect(byId.get("IndexEventsFunction")).toMatchObject({ timeoutSeconds: 30, worker: false });
    expect(byId.get("IndexEventsFunction")?.sources).toEqual([
      {
        queue: "index-events",
        batchSize: 10,
        concurrency: 1,
        restMs: 0,
        lambda: { batchSize: 10, concurrency: 2, windowSeconds: 0 },
        maxReceiveCount: 3,
        visibilitySeconds: 120,
        fifo: true,
      },
    ]);
    expect(byId.get("BashFunction")).toMatchObject({
      worker: true,
      sources: [{ queue: "bash", visibilitySeconds: 60 }],
    });
    expect(byId.get("DeadLettersFunction")?.sources.map(({ queue }) => queue)).toContain(
      "conduct-dead-letters",
    );
    expect(byId.get("DeadLettersFunction")?.sources[0]?.maxReceiveCount).toBeUndefined();
  });

  it("omits a removed rule, function and queue, and nothing else", async () => {
    const without = await changed((main, nested) => {
      delete main.BashRule;
      delete nested.FireFunction;
      delete nested.ConductQueue;
      delete nested.IndexEventsDeadLetterQueue;
    });

    expect(without.resources.rules.map(({ name }) => name)).toEqual(["index-events"]);
    expect(without.functions).toHaveLength(template.functions.length - 1);
    const conduct = without.functions.find(({ logicalId }) => logicalId === "ConductFunction");
    expect(conduct?.sources).toEqual([]);
    const queues = new Map(without.resources.queues.map((queue) => [queue.name, queue]));
    expect(queues.has("conduct")).toBe(false);
    expect(queues.get("index-events")).not.toHaveProperty("deadLetter");
    expect(queues.has("bash")).toBe(true);
  });

  it("omits the target of a rule if the nested stack has no output for the queue, and reports a missing file", async () => {
    const withoutOutput = await read(main, nested.replace("  BashQueueArn:\n", "  OtherQueueArn:\n"));
    expect(withoutOutput.resources.rules.map(({ name, queues }) => [name, queues])).toEqual([
      ["index-events", ["index-events"]],
      ["bash", []],
    ]);

    const alone = await changed((main) => {
      delete main.WorkflowsStack;
    });
    expect(alone.functions).toEqual([]);
    expect(alone.resources.queues).toEqual([]);
    expect(alone.resources.tables).toEqual(template.resources.tables);

    await expect(read(main.replace(NESTED, "infra/stacks/gone.yaml"))).rejects.toThrow(
      "WorkflowsStack: Properties.Location names a file that does not exist",
    );
  });

  it("resolves a function's file from its own template's folder", async () => {
    const moved = await read(main, nested.replaceAll("CodeUri: ../../functions/", "CodeUri: ../code/"));
    expect(moved.functions[0]?.entry).toBe("infra/code/workflows/event-logs/list.ts");

    const absolute = await read(main, nested.replace("- executors/bash.ts", "- /opt/bash.ts"));
    expect(absolute.functions.find(({ worker }) => worker)?.entry).toBe("/opt/bash.ts");
  });

  it("ignores a disabled source unless it is a worker's", async () => {
    const off = await read(
      main,
      nested.replace("BatchSize: 5\n", "BatchSize: 5\n            Enabled: false\n"),
    );

    const sources = new Map(off.functions.map((found) => [found.logicalId, found.sources.length]));
    expect(sources.get("ConductFunction")).toBe(0);
    expect(sources.get("BashFunction")).toBe(1);
  });

  it("reads short forms and unknown tags", async () => {
    const read1 = await read(`Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: { QueueName: !Sub "\${AWS::StackName}-mail" }
  R:
    Type: AWS::Events::Rule
    Properties:
      Name: !Sub \${AWS::StackName}-mail
      EventBusName: !ImportValue shared-bus
      EventPattern: { source: [mail] }
      Targets: [{ Id: q, Arn: !GetAtt Q.Arn }]
`);

    expect(read1.resources.queues).toEqual([
      { name: "mail", fifo: false, visibilitySeconds: 30, retentionSeconds: 345600 },
    ]);
    expect(read1.resources.rules).toEqual([
      { name: "mail", pattern: { source: ["mail"] }, queues: ["mail"] },
    ]);
  });

  it.each([
    [
      "BatchSize: 5",
      "BatchSize: five",
      "ConductFunction: Properties.Events.ConductQueue.Properties.BatchSize must be a number",
    ],
    [
      "StackName}-fire\n",
      "StackId}-fire\n",
      "FireQueue: Properties.QueueName must be Fn::Sub: ${AWS::StackName}-<name>",
    ],
    ["AttributeName: sk", "AttributeName: range", "EventLogTable: Properties.KeySchema must be pk and sk"],
    ["Handler: emit.handler", "Handler: 7", "EmitEventFunction: Properties.Handler must be text"],
    ["Fn::GetAtt:\n", "Fn::Sub:\n", "must be Fn::GetAtt: [<resource>, Arn]"],
    ["Resources:\n", "Things:\n", "Resources must be a map"],
    ["Globals:\n", "Globals: [\n", "at line"],
  ])("reports an invalid value: %j as %j", async (there, instead, message) => {
    const edit = (text: string): string =>
      there.startsWith("AttributeName") ? text.replaceAll(there, instead) : text.replace(there, instead);
    const edited = [main, nested].map(edit) as [string, string];
    expect(edited).not.toEqual([main, nested]);

    const failure = await read(...edited).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(TemplateError);
    expect((failure as Error).message).toContain(message);
  });
});
