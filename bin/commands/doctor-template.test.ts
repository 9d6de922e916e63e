import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stringify } from "yaml";
import { awsReport } from "./doctor-aws.ts";
import { countTemplate } from "./doctor-template.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-doctor-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const named = (name: string) => ({ "Fn::Sub": `\${AWS::StackName}-${name}` });
const queue = (name: string, more = {}) => ({
  Type: "AWS::SQS::Queue",
  Properties: { QueueName: named(name), ...more },
});
const fn = (variables: object) => ({
  Type: "AWS::Serverless::Function",
  Metadata: { BuildProperties: { EntryPoints: ["a.ts"] } },
  Properties: { Handler: "a.handler", Role: "role", Environment: { Variables: variables } },
});

async function write(resources: object, more: object = {}): Promise<string> {
  const path = join(folder, "template.yaml");
  await writeFile(path, stringify({ Resources: resources, ...more }));
  return path;
}

test("counts what a template and its globals hold, references as long as they may be", async () => {
  const path = await write(
    {
      Q: queue("q"),
      Short: fn({ A: "1" }),
      Long: fn({
        AB: "é".repeat(10),
        N: 100,
        SHARED: "own",
        REF: { Ref: "X" },
        SUB: { "Fn::Sub": "a-${B}-${C}" },
      }),
      R: {
        Type: "AWS::Events::Rule",
        Properties: {
          Name: named("r"),
          EventPattern: { source: ["s"] },
          Targets: [{ Arn: { "Fn::GetAtt": ["Q", "Arn"] } }],
        },
      },
    },
    {
      Parameters: { P: {}, X: {} },
      Globals: { Function: { Environment: { Variables: { SHARED: "global" } } } },
    },
  );
  const { stacks } = countTemplate(path);
  expect(stacks).toEqual([
    {
      file: "template.yaml",
      resources: 4,
      functions: 2,
      rules: 1,
      queues: 1,
      tables: 0,
      parameters: 2,
      outputs: 0,
      bytes: (await stat(path)).size,
      apiResources: 0,
      largestPolicy: null,
      mostPolicies: null,
      longestEnvironment: {
        function: "Long",
        bytes: 2 + 20 + (1 + 3) + (6 + 3) + (3 + 128) + (3 + "a--".length + 256),
      },
    },
  ]);
});

test("tells of what a template declares and AWS would refuse", async () => {
  const many = Object.fromEntries(Array.from({ length: 451 }, (_, n) => [`Q${n}`, queue(`q${n}`)]));
  const resources = {
    ...many,
    Q0: queue("q0", { MessageRetentionPeriod: 1_209_601 }),
    F: fn({ LONG: "x".repeat(4093) }),
    Role: {
      Type: "AWS::IAM::Role",
      Properties: { ManagedPolicyArns: Array.from({ length: 11 }, () => ({ Ref: "Policy" })) },
    },
    Policy: {
      Type: "AWS::IAM::ManagedPolicy",
      Properties: { PolicyDocument: { Statement: [{ Resource: "r".repeat(6144) }] } },
    },
    Api: { Type: "AWS::Serverless::Api" },
    Called: {
      ...fn({}),
      Properties: {
        ...fn({}).Properties,
        Events: Object.fromEntries(
          Array.from({ length: 299 }, (_, n) => [
            `E${n}`,
            { Type: "Api", Properties: { Path: `/a/${n}`, Method: "GET" } },
          ]),
        ),
      },
    },
    R: {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: named("r"),
        EventPattern: { source: ["s"] },
        Targets: Array.from({ length: 6 }, (_, n) => ({ Arn: { "Fn::GetAtt": [`Q${n}`, "Arn"] } })),
      },
    },
  };
  const parameters = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`P${n}`, {}]));
  const outputs = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`O${n}`, { Value: "v" }]));
  const templatePath = await write(resources, {
    Parameters: parameters,
    Outputs: outputs,
    Description: "x".repeat(1_000_000),
  });
  const { fits, faults } = awsReport({ dataDir: folder, templatePath });
  expect(fits).toBe(false);
  expect(faults).toEqual([
    "r: ruleTargets reached 6 targets; EventBridge allows 5",
    "q0: retentionSeconds reached 1209601 seconds; SQS allows 1209600",
    "F: environmentBytes reached 4097 bytes; Lambda allows 4096",
    "template.yaml: stackResources reached 758 resources; Weft allows 450",
    "template.yaml: apiResources reached 301 resources; API Gateway allows 300",
    "Role: managedPolicyCharacters reached 6175 characters; IAM allows 6144",
    "Role: rolePolicies reached 11 policies; IAM allows 10",
    expect.stringMatching(/^template\.yaml: templateBytes reached \d+ bytes; CloudFormation allows 1000000$/),
    "template.yaml: stackOutputs reached 201 outputs; CloudFormation allows 200",
    "template.yaml: stackParameters reached 201 parameters; CloudFormation allows 200",
  ]);
});
