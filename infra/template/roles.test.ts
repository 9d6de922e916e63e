import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { tables } from "../../lib/tables.ts";
import { scan } from "../scan.ts";
import { ACCESS } from "./access.ts";
import type { SamTemplate } from "./sam-template.ts";
import { toTemplates } from "./template.ts";

interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: unknown;
}

let nested: SamTemplate;
beforeAll(async () => {
  const templates = toTemplates(await scan(fileURLToPath(new URL("../..", import.meta.url))));
  nested = templates.get("infra/stacks/workflows.yaml")!;
});

const ROLES = ["HttpRole", "ConsumersRole", "SchedulesRole", "ExecutorsRole"];

function statementsOf(role: string): Statement[] {
  const { Policies } = nested.Resources[role]!.Properties as {
    Policies: { PolicyDocument: { Statement: Statement[] } }[];
  };
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

/** Resources that a role may do something to, as text. */
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

describe("the roles", () => {
  it("belong to every function, users' code apart from ours", () => {
    const functions = Object.values(nested.Resources).filter(
      ({ Type }) => Type === "AWS::Serverless::Function",
    );
    expect(ROLES.flatMap(functionsOf)).toHaveLength(functions.length);
    expect(functionsOf("ExecutorsRole")).toContain("BashFunction");
    expect(functionsOf("ExecutorsRole")).not.toContain("ConductFunction");
    expect(functionsOf("SchedulesRole").sort()).toEqual(["FireFunction", "SweepFunction"]);
    expect(functionsOf("ConsumersRole").sort()).toEqual([
      "ConductFunction",
      "DeadLettersFunction",
      "DispatchFunction",
      "DocumentUpdatedFunction",
      "IndexEventsFunction",
      "SendMailFunction",
      "WatchWorkspacesFunction",
    ]);
  });

  /** Blobs of a kind, secrets, rules that the installation makes for itself; EventBridge lists all rules or none. */
  const wildcards = [
    ...[
      "claims",
      "conversions",
      "dead-letters",
      "diffs",
      "documents",
      "events",
      "runs",
      "snapshots",
      "workflows",
      "workspaces",
    ].map((prefix) => `{"Fn::Sub":"arn:\${AWS::Partition}:s3:::\${BlobsBucketName}/${prefix}/*"}`),
    '{"Fn::Sub":"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SecretsPath}/*"}',
    '{"Fn::Sub":"arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${SecretsPath}/LLM_*"}',
    '{"Fn::Sub":"arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:rule/${StackName}-schedule-*"}',
    '["events:ListRules"] "*"',
  ];

  it("name what they are for: no action and no resource is a wildcard, but for what has no name beforehand", () => {
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

  it("let the token be read by requests alone, and secrets, but for keys of models and the mail server's, by what executes steps alone", () => {
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
    });
  });

  it("let rules of schedules be made by requests and the clock, and taken away by the clock alone", () => {
    const may = (action: string) => ROLES.filter((role) => grantedFor(role, `events:${action}`) !== "[]");
    for (const action of ["ListRules", "PutRule", "PutTargets"])
      expect(may(action)).toEqual(["HttpRole", "SchedulesRole"]);
    for (const action of ["RemoveTargets", "DeleteRule"]) expect(may(action)).toEqual(["SchedulesRole"]);
  });

  it("let users' code read its own queues, its blobs and secrets, and report to the conductor: nothing else", () => {
    expect(grantedFor("ExecutorsRole", "sqs:SendMessage")).toBe('[{"Fn::GetAtt":["ConductQueue","Arn"]}]');
    const own = grantedFor("ExecutorsRole", "sqs:ReceiveMessage");
    expect(own).toContain('"BashQueue"');
    expect(own).not.toMatch(/Conduct|Dispatch|DeadLetter/);
    const services = statementsOf("ExecutorsRole").flatMap(({ Action }) =>
      Action.map((name) => name.split(":")[0]),
    );
    expect(new Set(services)).toEqual(new Set(["logs", "sqs", "s3", "ssm"]));
    for (const action of ["s3:GetObject", "s3:PutObject"]) {
      const prefixes = [...grantedFor("ExecutorsRole", action).matchAll(/BlobsBucketName}\/([^*]*)\*/g)];
      expect(prefixes.map(([, prefix]) => prefix)).toEqual(["claims/", "runs/", "workspaces/"]);
    }
  });

  it("speak of tables and indexes that there are, and every table is somebody's", () => {
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
