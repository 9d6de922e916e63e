import { describe, expect, it } from "vitest";
import { compareRoles, coversPermission } from "./compare-roles.ts";
import { arn, type Permission, s3Arn } from "./permissions.ts";
import { readRoles } from "./policies.ts";

/** A function with a queue, whose role has these statements in addition to those that Lambda needs. */
const template = (...statements: object[]): string =>
  JSON.stringify({
    Globals: {
      Function: {
        LoggingConfig: { LogGroup: { Ref: "LogGroup" } },
        Environment: { Variables: { WEFT_STACK: { Ref: "StackName" } } },
      },
    },
    Resources: {
      AccessLogGroup: { Type: "AWS::Logs::LogGroup", Properties: { LogGroupName: "access" } },
      LogGroup: {
        Type: "AWS::Logs::LogGroup",
        Properties: { LogGroupName: { "Fn::Sub": "/weft/${StackName}" } },
      },
      Queue: {
        Type: "AWS::SQS::Queue",
        Properties: { QueueName: { "Fn::Sub": "${StackName}-work.fifo" } },
      },
      Work: {
        Type: "AWS::Serverless::Function",
        Properties: {
          Role: { "Fn::GetAtt": ["Role", "Arn"] },
          Events: { Queue: { Type: "SQS", Properties: { Queue: { "Fn::GetAtt": ["Queue", "Arn"] } } } },
        },
      },
      Role: {
        Type: "AWS::IAM::Role",
        Properties: { ManagedPolicyArns: [{ Ref: "First" }, { Ref: "Second" }] },
      },
      First: {
        Type: "AWS::IAM::ManagedPolicy",
        Properties: { PolicyDocument: { Statement: LAMBDAS } },
      },
      Second: {
        Type: "AWS::IAM::ManagedPolicy",
        Properties: { PolicyDocument: { Statement: statements } },
      },
    },
  });

const LAMBDAS = [
  {
    Effect: "Allow",
    Action: ["logs:CreateLogStream", "logs:PutLogEvents"],
    Resource: { "Fn::GetAtt": ["LogGroup", "Arn"] },
  },
  {
    Effect: "Allow",
    Action: [
      "ReceiveMessage",
      "DeleteMessage",
      "ChangeMessageVisibility",
      "GetQueueAttributes",
      "GetQueueUrl",
    ].map((name) => `sqs:${name}`),
    Resource: [{ "Fn::GetAtt": ["Queue", "Arn"] }],
  },
];
const TABLES = {
  Effect: "Allow",
  Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
  Resource: [
    {
      "Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${StackName}-runs",
    },
  ],
};
const BLOBS = { Effect: "Allow", Action: ["s3:GetObject"], Resource: s3Arn("bucket/runs/*") };

const issues = (statements: object[], done: readonly Permission[] | undefined) =>
  compareRoles(
    readRoles(template(...statements), { StackName: "s" }),
    new Map(done === undefined ? [] : [["Work", done]]),
  );
const onRuns = (action: string): Permission => ({ action, resource: arn("dynamodb", "table/s-runs") });
const GET = { action: "s3:GetObject", resource: s3Arn("bucket/runs/1/values") };

describe("compareRoles", () => {
  it("finds nothing if the functions use all rights of their role; Lambda uses its own rights for each function", () => {
    const done = [onRuns("dynamodb:GetItem"), onRuns("dynamodb:PutItem"), GET];
    expect(issues([TABLES, BLOBS], done)).toEqual({ neverCalled: [], missing: [], unused: [] });
  });

  it("reports a request without a right, with the function", () => {
    const { missing } = issues([TABLES], [onRuns("dynamodb:DeleteItem"), GET]);
    expect(missing).toEqual([
      `Role, as Work needs it: dynamodb:DeleteItem on ${arn("dynamodb", "table/s-runs")}`,
      `Role, as Work needs it: s3:GetObject on ${s3Arn("bucket/runs/1/values")}`,
    ]);
  });

  it("reports unused rights, by action and resource", () => {
    const { unused } = issues([TABLES, BLOBS], [onRuns("dynamodb:GetItem")]);
    expect(unused).toEqual([
      `Role: dynamodb:PutItem on ${arn("dynamodb", "table/s-runs")}`,
      `Role: s3:GetObject on ${s3Arn("bucket/runs/*")}`,
    ]);
  });

  it("lists functions that were never called", () => {
    expect(issues([], undefined).neverCalled).toEqual(["Work"]);
    expect(issues([], []).neverCalled).toEqual([]);
  });

  it("throws for a statement with an effect other than Allow", () => {
    expect(() => issues([{ ...TABLES, Condition: {} }], [])).toThrow(/unsupported statement/);
    expect(() => issues([{ ...TABLES, Effect: "Deny" }], [])).toThrow(/unsupported statement/);
  });
});

describe("the functions of a template", () => {
  it("have the environment and the queues of the template, with names of the stack", () => {
    const { functions } = readRoles(template(), { StackName: "s" });
    expect(functions).toEqual([
      {
        logicalId: "Work",
        actor: "Work",
        role: "Role",
        queues: [arn("sqs", "s-work.fifo")],
        environment: { WEFT_STACK: "s" },
      },
    ]);
  });
});

describe("a grant", () => {
  const grant = (resource: string) =>
    coversPermission({ action: "a", resource }, { action: "a", resource: "x/runs/1/y" });

  it("covers its resource, exact or by pattern, and no other", () => {
    for (const resource of ["x/runs/1/y", "*", "x/runs/*", "x/*/y", "x/*1*y"])
      expect(grant(resource)).toBe(true);
    for (const resource of ["x/runs", "x/runs/1", "runs/*", "x/*/z", "x/runs/1/y*y"])
      expect(grant(resource)).toBe(false);
  });

  it("covers only its own action", () => {
    expect(coversPermission({ action: "a", resource: "*" }, { action: "b", resource: "x" })).toBe(false);
  });
});
