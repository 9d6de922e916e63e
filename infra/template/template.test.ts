import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseQueueNames } from "../../lib/platform/queue-names.ts";
import { consumerSource, makeTree } from "../fixture-tree.ts";
import { scanFunctions } from "../scan.ts";
import { countResources, type SamTemplate, templateText } from "./sam-template.ts";
import { toTemplates } from "./template.ts";

interface Templates {
  readonly main: SamTemplate;
  readonly nested: SamTemplate;
}

async function fixtureTemplates(further: Readonly<Record<string, string>> = {}): Promise<Templates> {
  await using tree = await makeTree();
  await tree.write(further);
  const templates = toTemplates(await scanFunctions(tree.root));
  expect([...templates.keys()]).toEqual(["template.yaml", "infra/stacks/workflows.yaml"]);
  const [main, nested] = templates.values();
  return { main: main!, nested: nested! };
}

const { main, nested } = await fixtureTemplates();

/** The properties of a resource of either template. */
function propertiesOf(logicalId: string): Record<string, unknown> {
  return (main.Resources[logicalId] ?? nested.Resources[logicalId])!.Properties as Record<string, unknown>;
}

describe("the template's functions", () => {
  it("creates one function per route, with one event that has its method and path", () => {
    expect(nested.Resources.CancelRunFunction).toMatchObject({
      Type: "AWS::Serverless::Function",
      Metadata: {
        BuildMethod: "esbuild",
        BuildProperties: { EntryPoints: ["workflows/runs/cancel.ts"], Format: "esm" },
      },
      Properties: {
        CodeUri: "../../functions/",
        Handler: "cancel.handler",
        Events: {
          Api: {
            Type: "Api",
            Properties: { RestApiId: { Ref: "Api" }, Path: "/automation/runs/{id}", Method: "DELETE" },
          },
        },
      },
    });
    expect(propertiesOf("ReadHealthFunction")).toMatchObject({
      Events: { Api: { Properties: { Path: "/health" } } },
    });
  });

  it("streams only lists", () => {
    const streaming = Object.entries(nested.Resources)
      .filter(([, resource]) => JSON.stringify(resource).includes('"ResponseTransferMode":"RESPONSE_STREAM"'))
      .map(([logicalId]) => logicalId);

    expect(streaming).toEqual(["ListEventLogsFunction"]);
  });

  it("writes memory, timeout and body limit only if they differ from the defaults", () => {
    expect(nested.Globals).toMatchObject({
      Function: { Runtime: "nodejs24.x", MemorySize: 512, Timeout: 29 },
    });
    expect(propertiesOf("EmitEventFunction")).toMatchObject({ MemorySize: 1024 });
    expect(propertiesOf("EmitEventFunction")).not.toHaveProperty("Timeout");
    expect(nested.Resources.EmitEventFunction!.Metadata).toMatchObject({
      Weft: { BodyLimitBytes: 2048 },
    });
    expect(nested.Resources.CreateWorkflowFunction!.Metadata).toMatchObject({
      Weft: { BodyLimitBytes: 1048576 },
    });
    expect(nested.Resources.CancelRunFunction!.Metadata).not.toHaveProperty("Weft");
  });

  it("feeds a consumer from its queue, with partial batch responses", () => {
    expect(propertiesOf("ConductFunction").Events).toEqual({
      ConductQueue: {
        Type: "SQS",
        Properties: {
          Queue: { "Fn::GetAtt": ["ConductQueue", "Arn"] },
          BatchSize: 5,
          FunctionResponseTypes: ["ReportBatchItemFailures"],
          ScalingConfig: { MaximumConcurrency: 16 },
        },
      },
    });
  });

  it("raises a concurrency below the minimum of AWS, and writes the intended one next to it", () => {
    expect(propertiesOf("IndexEventsFunction").Events).toMatchObject({
      IndexEventsQueue: { Properties: { ScalingConfig: { MaximumConcurrency: 2 } } },
    });
    expect(nested.Resources.IndexEventsFunction!.Metadata).toMatchObject({ Weft: { Concurrency: 1 } });
  });

  it("marks a worker, whose queue Lambda does not poll and whose messages have a short visibility timeout", () => {
    expect(nested.Resources.BashFunction!.Metadata).toMatchObject({ Weft: { Worker: true } });
    expect(propertiesOf("BashFunction")).toMatchObject({
      Timeout: 60,
      Events: { BashQueue: { Properties: { Enabled: false } } },
    });
    expect(propertiesOf("BashQueue")).toMatchObject({ VisibilityTimeout: 60 });
  });

  it("feeds the dead-letter consumer from every dead-letter queue, without a queue of its own", () => {
    expect(Object.keys(propertiesOf("DeadLettersFunction").Events as object)).toEqual([
      "ConductDeadLetterQueue",
      "IndexEventsDeadLetterQueue",
      "IndexEventsUndeliveredQueue",
      "BashDeadLetterQueue",
      "FireDeadLetterQueue",
    ]);
    expect(nested.Resources).not.toHaveProperty("DeadLettersQueue");
  });

  it("gives the dead-letter consumer a queue if it has a schedule, without a dead-letter queue", async () => {
    const { nested: scheduled } = await fixtureTemplates({
      "functions/consumers/dead-letters.ts": consumerSource(
        'name: "dead-letters", deadLetters: true, schedule: "rate(1 hour)"',
      ),
    });

    const events = scheduled.Resources.DeadLettersFunction!.Properties!.Events as object;

    expect(Object.keys(events)).toContain("DeadLettersQueue");
    expect(Object.keys(events)).not.toContain("DeadLettersDeadLetterQueue");
  });
});

const RULES = "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:rule";

describe("the template's queues and rules", () => {
  it("sets a visibility timeout no shorter than the function's timeout, and a redrive policy", () => {
    expect(propertiesOf("FireQueue")).toEqual({
      QueueName: { "Fn::Sub": "${StackName}-fire" },
      VisibilityTimeout: 120,
      MessageRetentionPeriod: 1209600,
      SqsManagedSseEnabled: true,
      RedrivePolicy: {
        deadLetterTargetArn: { "Fn::GetAtt": ["FireDeadLetterQueue", "Arn"] },
        maxReceiveCount: 5,
      },
    });
    expect(propertiesOf("FireDeadLetterQueue")).toMatchObject({
      QueueName: { "Fn::Sub": "${StackName}-fire-dead-letters" },
      MessageRetentionPeriod: 1209600,
    });
  });

  it("names FIFO queues with the suffix .fifo, dead-letter queues too", () => {
    expect(propertiesOf("ConductQueue")).toMatchObject({
      QueueName: { "Fn::Sub": "${StackName}-conduct.fifo" },
      FifoQueue: true,
    });
    expect(propertiesOf("ConductDeadLetterQueue")).toMatchObject({
      QueueName: { "Fn::Sub": "${StackName}-conduct-dead-letters.fifo" },
      FifoQueue: true,
    });
  });

  it("creates rules on our bus and schedules on the default bus, both with dead-letter queues", () => {
    expect(propertiesOf("BashRule")).toEqual({
      Name: { "Fn::Sub": "${AWS::StackName}-bash" },
      EventBusName: { Ref: "EventBus" },
      EventPattern: { source: ["weft.commands"], detail: { type: ["bash"] } },
      Targets: [
        {
          Id: "queue",
          Arn: { "Fn::GetAtt": ["WorkflowsStack", "Outputs.BashQueueArn"] },
          DeadLetterConfig: {
            Arn: { "Fn::GetAtt": ["WorkflowsStack", "Outputs.BashDeadLetterQueueArn"] },
          },
        },
      ],
    });
    expect(propertiesOf("FireSchedule")).toMatchObject({ ScheduleExpression: "rate(1 minute)" });
    expect(propertiesOf("FireSchedule")).not.toHaveProperty("EventBusName");
  });

  it("sends undelivered events of a FIFO consumer to a standard queue, the only kind that a rule may use", () => {
    expect(propertiesOf("IndexEventsRule").Targets).toMatchObject([
      {
        DeadLetterConfig: {
          Arn: { "Fn::GetAtt": ["WorkflowsStack", "Outputs.IndexEventsUndeliveredQueueArn"] },
        },
        SqsParameters: { MessageGroupId: "index-events" },
      },
    ]);
    expect(propertiesOf("IndexEventsUndeliveredQueue")).not.toHaveProperty("FifoQueue");
  });

  it("lets only the queue's own rules send to it", () => {
    expect(propertiesOf("FireQueuePolicy")).toMatchObject({
      Queues: [{ Ref: "FireQueue" }, { Ref: "FireDeadLetterQueue" }],
      PolicyDocument: {
        Statement: [
          {
            Principal: { Service: "events.amazonaws.com" },
            Action: "sqs:SendMessage",
            Condition: {
              ArnLike: {
                "aws:SourceArn": [
                  { "Fn::Sub": `${RULES}/\${StackName}-fire` },
                  { "Fn::Sub": `${RULES}/\${StackName}-schedule-*` },
                ],
              },
            },
          },
        ],
      },
    });
    expect(JSON.stringify(propertiesOf("BashQueuePolicy"))).not.toContain("schedule");
    expect(JSON.stringify(propertiesOf("BashQueuePolicy"))).toContain(
      `${RULES}/\${StackName}/\${StackName}-bash"`,
    );
    expect(nested.Resources).not.toHaveProperty("ConductQueuePolicy");
  });
});

describe("the template as a whole", () => {
  it("retains tables and blobs when the stack is deleted, but not if its creation fails", () => {
    expect(main.Resources.RunsTable).toMatchObject({
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Properties: {
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: ["pk", "sk", "state"].map((name) => ({
          AttributeName: name,
          AttributeType: "S",
        })),
        GlobalSecondaryIndexes: [{ IndexName: "by-state", Projection: { ProjectionType: "ALL" } }],
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
    expect(main.Resources.BlobsBucket).toMatchObject({
      DeletionPolicy: "RetainExceptOnCreate",
      Properties: { VersioningConfiguration: { Status: "Enabled" } },
    });
  });

  it("formats the gateway's own responses like ours", () => {
    const responses = propertiesOf("Api").GatewayResponses as Record<string, Record<string, unknown>>;

    expect(responses.MISSING_AUTHENTICATION_TOKEN).toMatchObject({
      StatusCode: 404,
      ResponseTemplates: { "application/json": '{"error":true,"message":"Not found"}' },
    });
    expect(responses.THROTTLED).toMatchObject({ StatusCode: 429 });
    expect(responses.REQUEST_TOO_LARGE).toMatchObject({ StatusCode: 413 });
    expect(responses.DEFAULT_5XX).toMatchObject({ StatusCode: 500 });
    for (const { ResponseTemplates } of Object.values(responses)) {
      const body = (ResponseTemplates as Record<string, string>)["application/json"]!;
      expect(JSON.parse(body.replace("$context.error.messageString", '"x"'))).toMatchObject({ error: true });
    }
  });

  it("refers only to resources that it contains, and passes a nested stack all its parameters", () => {
    for (const template of [main, nested]) {
      const known = new Set([...Object.keys(template.Resources), ...Object.keys(template.Parameters)]);
      const text = JSON.stringify(template);
      const references = [
        ...[...text.matchAll(/"(?:Ref|Fn::GetAtt)":\[?"([^"]+)"/g)].map(([, id]) => id!),
        ...[...text.matchAll(/\$\{([A-Za-z:]+)\}/g)].map(([, id]) => id!),
      ];

      expect(references.length).toBeGreaterThan(20);
      expect(references.filter((id) => !known.has(id) && !id.startsWith("AWS::"))).toEqual([]);
    }
    expect(Object.keys(propertiesOf("WorkflowsStack").Parameters as object).sort()).toEqual(
      Object.keys(nested.Parameters).sort(),
    );
    const outputs = [...JSON.stringify(main).matchAll(/"Outputs\.([^"]+)"/g)].map(([, name]) => name!);
    expect(outputs.length).toBeGreaterThan(5);
    expect(outputs.filter((name) => !(name in nested.Outputs))).toEqual([]);
  });

  it("is unchanged after formatting and parsing, with a header that names its source", () => {
    for (const template of [main, nested]) {
      const text = templateText(template);

      expect(text).toMatch(/^# Generated by `npm run infra:write`/);
      expect(parse(text)).toEqual(JSON.parse(JSON.stringify(template)));
      expect(text).toContain('"2010-09-09"');
    }
  });

  it("counts the resources that SAM creates", () => {
    const written = Object.keys(nested.Resources).length;

    // 6 routes add a permission each, 9 queues a mapping, the API a deployment and a stage.
    expect(countResources(nested)).toEqual({ functions: 11, resources: written + 6 + 9 + 2 });
    expect(countResources(main)).toEqual({ functions: 0, resources: Object.keys(main.Resources).length });
  });

  it("takes the names of the parameters with token and secrets, and outputs the names of its resources", () => {
    expect(JSON.stringify(main.Parameters)).not.toMatch(/NoEcho|"AccessToken"/);
    expect(nested.Globals).toMatchObject({
      Function: {
        Environment: {
          Variables: {
            WEFT_ACCESS_TOKEN_PARAMETER: { Ref: "AccessTokenParameter" },
            WEFT_SECRETS_PATH: { Ref: "SecretsPath" },
          },
        },
      },
    });
    expect(Object.keys(main.Outputs)).toEqual([
      "WorkflowsBaseUrl",
      "WorkerRoleArn",
      "WorkerInstanceProfileArn",
      "EventBusName",
      "BlobsBucketName",
      "EventLogTableName",
      "RunsTableName",
    ]);
  });

  it("passes the names of the queues to a function, FIFO queues with their suffix", () => {
    const { WEFT_QUEUES } = (
      nested.Globals as { Function: { Environment: { Variables: Record<string, string> } } }
    ).Function.Environment.Variables;
    const made = Object.values(nested.Resources)
      .filter(({ Type }) => Type === "AWS::SQS::Queue")
      .map(({ Properties }) => (Properties!.QueueName as { "Fn::Sub": string })["Fn::Sub"]);

    expect(
      parseQueueNames(WEFT_QUEUES!)
        .map((name) => `\${StackName}-${name}`)
        .sort(),
    ).toEqual(made.sort());
  });
});
