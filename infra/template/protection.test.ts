import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { documentsService } from "../../lib/documents/service.ts";
import { scanFunctions } from "../scan.ts";
import type { SamTemplate } from "./sam-template.ts";
import { toTemplates } from "./template.ts";

const templates = toTemplates(await scanFunctions(fileURLToPath(new URL("../..", import.meta.url))));
const main = templates.get("template.yaml")!;
const services = ["workflows", "documents"].map((name) => templates.get(`infra/stacks/${name}.yaml`)!);

interface Parameter {
  readonly Default?: unknown;
  readonly AllowedPattern?: string;
  readonly MaxValue?: number;
}
const parameters = main.Parameters as Record<string, Parameter>;
const apiOf = ({ Resources }: SamTemplate) => Resources.Api!.Properties!;

/** Default quotas of a new account: below these the stack deploys without a quota request. */
const DEFAULT_QUOTAS = { concurrency: 1000, unreserved: 100, apiRate: 2500, apiBurst: 1250 };

it("throttles every method of both APIs, by default below the quotas of every region", () => {
  for (const service of services)
    expect(apiOf(service).MethodSettings).toEqual([
      {
        HttpMethod: "*",
        ResourcePath: "/*",
        ThrottlingRateLimit: { Ref: "ApiRateLimit" },
        ThrottlingBurstLimit: { Ref: "ApiBurstLimit" },
      },
    ]);
  const both = (name: string) => 2 * (parameters[name]!.Default as number);
  expect(both("ApiRateLimit")).toBeLessThan(DEFAULT_QUOTAS.apiRate);
  expect(both("ApiBurstLimit")).toBeLessThan(DEFAULT_QUOTAS.apiBurst);
});

it("logs requests without their query strings, and only if API Gateway has a role for it", () => {
  expect(parameters.ApiAccessLogs!.Default).toBe("off");
  for (const service of services) {
    const { AccessLogSetting } = apiOf(service) as {
      AccessLogSetting: { "Fn::If": [string, { Format: string; DestinationArn: unknown }, unknown] };
    };
    const [condition, { Format, DestinationArn }, otherwise] = AccessLogSetting["Fn::If"];
    expect([condition, otherwise]).toEqual(["HasAccessLogs", { Ref: "AWS::NoValue" }]);
    expect(DestinationArn).toEqual({ "Fn::GetAtt": ["AccessLogGroup", "Arn"] });
    expect(JSON.parse(Format)).toMatchObject({ requestId: "$context.requestId", status: "$context.status" });
    expect(Format).not.toMatch(/query|authorizer|header/i);
    expect(service.Resources.AccessLogGroup).toMatchObject({ Condition: "HasAccessLogs" });
  }
  for (const stack of ["WorkflowsStack", "DocumentsStack"])
    expect(main.Resources[stack]!.Properties!.Parameters).toMatchObject({
      // Any value except off, and only after the account's role exists.
      ApiAccessLogs: {
        "Fn::If": ["GivesAccountRole", { Ref: "ApiGatewayAccount" }, { Ref: "ApiAccessLogs" }],
      },
    });
  for (const id of ["ApiGatewayAccount", "ApiGatewayLogsRole"])
    expect(main.Resources[id]).toMatchObject({ Condition: "GivesAccountRole", DeletionPolicy: "Retain" });
});

it("puts a web ACL before both APIs if one is configured", () => {
  for (const service of services)
    expect(service.Resources.WebAclAssociation).toMatchObject({
      Condition: "HasWebAcl",
      Properties: { WebACLArn: { Ref: "WebAclArn" } },
    });
  const pattern = new RegExp(parameters.WebAclArn!.AllowedPattern!);
  expect("arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/weft/0a1b").toMatch(pattern);
  expect("arn:aws:wafv2:us-east-1:123456789012:global/webacl/weft/0a1b").not.toMatch(pattern);
});

it("reserves concurrency for the queues of consumers if enabled, within the limit of a default account", () => {
  expect(parameters.ReserveConcurrency!.Default).toBe("false");
  const reserved = services.flatMap(({ Resources }) =>
    Object.entries(Resources).flatMap(([id, { Properties }]) => {
      const value = Properties?.ReservedConcurrentExecutions as { "Fn::If": [string, number, unknown] };
      if (value === undefined) return [];
      const [condition, most, otherwise] = value["Fn::If"];
      expect([condition, otherwise]).toEqual(["ReservesConcurrency", { Ref: "AWS::NoValue" }]);
      const events = Object.values(Properties!.Events as Record<string, QueueEvent>);
      const atOnce = events.map((event) => event.Properties.ScalingConfig.MaximumConcurrency);
      expect(most).toBe(atOnce.reduce((sum, one) => sum + one, 0));
      return [[id, most] as const];
    }),
  );
  const names = reserved.map(([id]) => id);
  expect(names).toEqual(expect.arrayContaining(["ConductFunction", "IndexEventsFunction", "FireFunction"]));
  expect(names).not.toContain("FunctionFunction");
  const sum = reserved.reduce((total, [, most]) => total + most, 0);
  expect(sum).toBeLessThanOrEqual(DEFAULT_QUOTAS.concurrency - DEFAULT_QUOTAS.unreserved);
});

interface QueueEvent {
  readonly Properties: { readonly ScalingConfig: { readonly MaximumConcurrency: number } };
}

it("serves both APIs at one domain name, each under its own paths", () => {
  const { DocumentsRoute, WorkflowsRoute, ApiDomain } = main.Resources;
  expect(ApiDomain!.Properties).toMatchObject({
    RoutingMode: "ROUTING_RULE_ONLY",
    SecurityPolicy: "TLS_1_2",
  });
  const rule = (stack: string, Priority: number, Conditions: unknown[]) => ({
    Condition: "HasDomain",
    Properties: {
      Priority,
      Conditions,
      Actions: [
        {
          InvokeApi: {
            ApiId: { "Fn::GetAtt": [stack, "Outputs.ApiId"] },
            Stage: "live",
            StripBasePath: false,
          },
        },
      ],
    },
  });
  const first = documentsService.basePath.split("/")[1]!;
  const ofDocuments = [first, "external_api", "login", "media"];
  expect(DocumentsRoute).toMatchObject(
    rule("DocumentsStack", 1, [{ MatchBasePaths: { AnyOf: ofDocuments } }]),
  );
  expect(WorkflowsRoute).toMatchObject(rule("WorkflowsStack", 2, []));
  const pathsOf = ({ Resources }: SamTemplate) =>
    Object.values(Resources).flatMap(({ Properties }) =>
      Object.values((Properties?.Events ?? {}) as Record<string, { Properties: { Path?: string } }>).flatMap(
        (event) => event.Properties.Path ?? [],
      ),
    );
  const [workflows, documents] = services.map(pathsOf);
  const isDocuments = (path: string) => ofDocuments.includes(path.split("/")[1]!);
  expect(workflows!.filter(isDocuments)).toEqual([]);
  expect(documents!.filter((path) => !isDocuments(path))).toEqual([]);
});
