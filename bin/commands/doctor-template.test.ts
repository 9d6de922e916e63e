import { mkdtemp, rm, writeFile } from "node:fs/promises";
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
      ...{ resources: 4, functions: 2, rules: 1, queues: 1, tables: 0, parameters: 2 },
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
  const templatePath = await write(resources, { Parameters: parameters });
  const { fits, faults } = awsReport({ dataDir: folder, templatePath });
  expect(fits).toBe(false);
  expect(faults).toEqual([
    "r: ruleTargets came to 6 targets; EventBridge allows 5",
    "q0: retentionSeconds came to 1209601 seconds; SQS allows 1209600",
    "F: environmentBytes came to 4097 bytes; Lambda allows 4096",
    "template.yaml: stackResources came to 453 resources; Weft allows 450",
    "template.yaml: stackParameters came to 201 parameters; CloudFormation allows 200",
  ]);
});
