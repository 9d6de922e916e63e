import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { tables } from "../../lib/tables.ts";
import { policySizes } from "../roles/policies.ts";
import { scanFunctions } from "../scan.ts";
import { ACCESS } from "./access.ts";
import { LONGEST, roleWithPolicies } from "./policies.ts";
import { type SamTemplate, templateText } from "./sam-template.ts";
import { toTemplates } from "./template.ts";

interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: unknown;
}

let templates: ReadonlyMap<string, SamTemplate>;
let nested: SamTemplate;
beforeAll(async () => {
  templates = toTemplates(await scanFunctions(fileURLToPath(new URL("../..", import.meta.url))));
  nested = templates.get("infra/stacks/workflows.yaml")!;
});

const ROLES = ["HttpRole", "ConsumersRole", "SchedulesRole", "ExecutorsRole", "WorkerRole"];

function statementsOf(role: string): Statement[] {
  const { ManagedPolicyArns } = nested.Resources[role]!.Properties as {
    ManagedPolicyArns: { Ref: string }[];
  };
  return ManagedPolicyArns.flatMap(({ Ref }) => {
    const { PolicyDocument } = nested.Resources[Ref]!.Properties as {
      PolicyDocument: { Statement: Statement[] };
    };
    return PolicyDocument.Statement;
  });
}

/** Resources of a role's statements, as text. */
const grantedFor = (role: string, action: string): string =>
  JSON.stringify(
    statementsOf(role)
      .filter(({ Action }) => Action.includes(action))
      .map(({ Resource }) => Resource),
  );

const functionsOf = (role: string): string[] =>
  Object.entries(nested.Resources)
    .filter(([, { Type, Properties }]) => Type === "AWS::Serverless::Function" && hasRole(Properties, role))
    .map(([logicalId]) => logicalId);

const hasRole = (properties: unknown, role: string): boolean =>
  JSON.stringify((properties as { Role: unknown }).Role) === JSON.stringify({ "Fn::GetAtt": [role, "Arn"] });

describe("the policies", () => {
  it.each([
    ["aws", "ap-southeast-1"],
    ["aws-us-gov", "us-gov-west-1"],
    ["aws-iso-f", "us-isof-south-1"],
  ])("fit into the limits of IAM, with a stack name of 40 characters in %s %s", (partition, region) => {
    const partitionAndRegion = { ...LONGEST, "AWS::Partition": partition, "AWS::Region": region };
    for (const [file, template] of templates) {
      if (file === "template.yaml") continue;
      const sizes = policySizes(templateText(template), partitionAndRegion);
      expect(sizes.size).toBeGreaterThan(0);
      for (const [role, policies] of sizes) {
        expect([role, policies.length]).toEqual([
          role,
          expect.toSatisfy((count: number) => count > 0 && count <= 10),
        ]);
        for (const characters of policies)
          expect([role, characters]).toEqual([
            role,
            expect.toSatisfy((size: number) => size > 100 && size <= 6144),
          ]);
      }
    }
  });

  it("are split if a single statement has too many resources", () => {
    const Resource = Array.from({ length: 300 }, (_, number) => `arn:aws:s3:::bucket/${number}`);
    const resources = roleWithPolicies(
      "HttpRole",
      ["lambda.amazonaws.com"],
      [{ Effect: "Allow", Action: ["s3:GetObject"], Resource }],
    );
    const policies = Object.values(resources).filter(({ Type }) => Type === "AWS::IAM::ManagedPolicy");
    expect(policies.length).toBeGreaterThan(1);
    const statements = policies.flatMap(
      ({ Properties }) => (Properties!.PolicyDocument as { Statement: Statement[] }).Statement,
    );
    expect(statements.flatMap((one) => one.Resource)).toEqual(Resource);
    for (const { Properties } of policies)
      expect(JSON.stringify(Properties!.PolicyDocument).length).toBeLessThanOrEqual(6144);
  });
});

describe("the roles", () => {
  it("belong to all functions, separately for users' code", () => {
    const functions = Object.values(nested.Resources).filter(
      ({ Type }) => Type === "AWS::Serverless::Function",
    );
    expect(ROLES.flatMap(functionsOf)).toHaveLength(functions.length);
    expect(functionsOf("ExecutorsRole")).toContain("HttpFunction");
    expect(functionsOf("ExecutorsRole")).not.toContain("ConductFunction");
    expect(functionsOf("WorkerRole")).toContain("BashFunction");
    expect(functionsOf("SchedulesRole").sort()).toEqual(["FireFunction", "SweepFunction"]);
    expect(functionsOf("ConsumersRole").sort()).toEqual([
      "AttachmentsFunction",
      "ConductFunction",
      "DeadLettersFunction",
      "DispatchFunction",
      "DocumentUpdatedFunction",
      "ExportsFunction",
      "ImportsFunction",
      "IndexDocumentsFunction",
      "IndexEventsFunction",
      "NotifyFunction",
      "SendMailFunction",
      "WatchWorkspacesFunction",
    ]);
  });

  /** Prefixes of blobs, secrets, and rules created at run time; EventBridge lists all rules or none. */
  const wildcards = [
    ...[
      "claims",
      "conversions",
      "dead-letters",
      "diffs",
      "documents",
      "events",
      "exports",
      "imports",
      "media",
      "renderings",
      "runs",
      "snapshots",
      "web",
      "workflows",
      "workspaces",
    ].map((prefix) => `{"Fn::Sub":"arn:\${AWS::Partition}:s3:::\${BlobsBucketName}/${prefix}/*"}`),
    '{"Fn::Sub":"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SecretsPath}/*"}',
    '{"Fn::Sub":"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SecretsPath}/LLM_*"}',
    '{"Fn::Sub":"arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:rule/${StackName}-schedule-*"}',
    '["events:ListRules"] "*"',
  ];

  it("contain no wildcard in actions and resources, except for names that are created at run time", () => {
    for (const role of ROLES) {
      for (const { Effect, Action, Resource } of statementsOf(role)) {
        expect(Effect).toBe("Allow");
        expect(Action.filter((action) => action.includes("*"))).toEqual([]);
        const resources = (Array.isArray(Resource) ? Resource : [Resource]).map((one) => JSON.stringify(one));
        expect(resources.length).toBeGreaterThan(0);
        for (const resource of resources.filter((text) => text.includes("*")))
          expect(wildcards).toContain(resource === '"*"' ? `${JSON.stringify(Action)} "*"` : resource);
      }
    }
  });

  it("let only requests read the token, and only executors of steps read secrets, except for keys of models and the mail server", () => {
    const granted = ROLES.map((role) => [role, grantedFor(role, "ssm:GetParameter")]);
    const parameters = (...names: readonly string[]): string =>
      JSON.stringify(
        names.map((name) => ({
          "Fn::Sub": `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${name}`,
        })),
      );
    expect(Object.fromEntries(granted)).toEqual({
      HttpRole: parameters("${AccessTokenParameter}", "${SecretsPath}/LLM_*"),
      ConsumersRole: parameters("${SecretsPath}/DJANGO_EMAIL_HOST_PASSWORD"),
      SchedulesRole: "[]",
      ExecutorsRole: parameters("${SecretsPath}/*"),
      WorkerRole: parameters("${SecretsPath}/*"),
    });
  });

  it("let requests and the clock create rules of schedules, and only the clock delete them", () => {
    const hasRight = (action: string) =>
      ROLES.filter((role) => grantedFor(role, `events:${action}`) !== "[]");
    for (const action of ["ListRules", "PutRule", "PutTargets"])
      expect(hasRight(action)).toEqual(["HttpRole", "SchedulesRole"]);
    for (const action of ["RemoveTargets", "DeleteRule"]) expect(hasRight(action)).toEqual(["SchedulesRole"]);
  });

  it.each([
    ["ExecutorsRole", "HttpQueue", /Conduct|Dispatch|DeadLetter|Bash/, ["claims/", "runs/"]],
    ["WorkerRole", "BashQueue", /Conduct|Dispatch|DeadLetter|Http/, ["claims/", "runs/", "workspaces/"]],
  ])(
    "let users' code read its own queues, its blobs and secrets, and report to the conductor: %s",
    (role, queue, others, blobs) => {
      expect(grantedFor(role, "sqs:SendMessage")).toBe('[{"Fn::GetAtt":["ConductQueue","Arn"]}]');
      for (const action of ["ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility", "GetQueueUrl"])
        expect(grantedFor(role, `sqs:${action}`)).toContain(`"${queue}"`);
      expect(grantedFor(role, "sqs:ReceiveMessage")).not.toMatch(others);
      const services = statementsOf(role).flatMap(({ Action }) => Action.map((name) => name.split(":")[0]));
      expect(new Set(services)).toEqual(new Set(["logs", "sqs", "s3", "ssm"]));
      for (const action of ["s3:GetObject", "s3:PutObject"]) {
        const prefixes = [...grantedFor(role, action).matchAll(/BlobsBucketName}\/([^*]*)\*/g)];
        expect(prefixes.map(([, prefix]) => prefix)).toEqual(blobs);
      }
    },
  );

  it("trust only Lambda, except for the worker's, which ECS tasks and EC2 instances assume", () => {
    const trusted = ROLES.map((role) => {
      const { AssumeRolePolicyDocument } = nested.Resources[role]!.Properties as {
        AssumeRolePolicyDocument: { Statement: { Principal: { Service: unknown } }[] };
      };
      return AssumeRolePolicyDocument.Statement.map(({ Principal }) => Principal.Service);
    });
    expect(trusted.slice(0, -1)).toEqual(ROLES.slice(0, -1).map(() => ["lambda.amazonaws.com"]));
    expect(trusted.at(-1)).toEqual([
      ["lambda.amazonaws.com", "ecs-tasks.amazonaws.com", { "Fn::Sub": "ec2.${AWS::URLSuffix}" }],
    ]);
  });

  it("refer to existing tables and indexes, and every table is used", () => {
    const known = new Map(Object.values(tables).map((table) => [table.name, Object.keys(table.indexes)]));
    const used = new Set<string>();
    for (const access of Object.values(ACCESS).flatMap((kinds) => Object.values(kinds))) {
      for (const [table, grants] of Object.entries(access.tables ?? {})) {
        used.add(table);
        expect([...known.keys()]).toContain(table);
        const indexes = grants.flatMap((grant) => grant.split(":")[1] ?? []);
        for (const index of indexes) expect(known.get(table)).toContain(index);
      }
    }
    expect([...used].sort()).toEqual([...known.keys()].sort());
  });
});
