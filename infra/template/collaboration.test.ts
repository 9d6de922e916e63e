import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { collaboration } from "../../bin/commands/collaboration.ts";
import { settings } from "../../lib/settings/settings.ts";
import { scanFunctions } from "../scan.ts";
import { toTemplates } from "./template.ts";

const templates = toTemplates(await scanFunctions(fileURLToPath(new URL("../..", import.meta.url))));
const main = templates.get("template.yaml")!;
const nested = templates.get("infra/stacks/collaboration.yaml")!;

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
const propertiesOf = (id: string): any => nested.Resources[id]!.Properties;
const container = () => propertiesOf("TaskDefinition").ContainerDefinitions[0];

it("nothing is deployed unless there is an image, and every parameter has a default", () => {
  const { Condition, Properties } = main.Resources.CollaborationStack!;
  expect(Condition).toBe("HasCollaboration");
  expect(main.Conditions?.HasCollaboration).toEqual({
    "Fn::Not": [{ "Fn::Equals": [{ Ref: "CollaborationImage" }, ""] }],
  });
  const parameters = Object.entries(main.Parameters).filter(([name]) => name.startsWith("Collaboration"));
  expect(parameters.length).toBeGreaterThan(5);
  for (const [name, parameter] of parameters)
    expect([name, parameter]).toEqual([name, expect.objectContaining({ Default: expect.anything() })]);
  expect(Object.keys(Properties!.Parameters as object).toSorted()).toEqual(
    Object.keys(nested.Parameters).toSorted(),
  );
  for (const name of ["CollaborationTarget", "CollaborationHostedZoneId"])
    expect(main.Outputs[name]).toMatchObject({ Condition });
});

it("the container runs the command with settings that exist, and the key only as a reference", () => {
  expect(container().EntryPoint.at(-1)).toBe(collaboration.name());
  const names = [...container().Environment, ...container().Secrets].map(({ Name }) => Name);
  for (const name of names) expect(Object.keys(settings)).toContain(name);
  for (const { Name } of container().Environment)
    expect(settings[Name as keyof typeof settings]).not.toHaveProperty("isSecret");
  expect(container().Secrets).toEqual([
    {
      Name: "Y_PROVIDER_API_KEY",
      ValueFrom: {
        "Fn::Sub": expect.stringMatching(/:parameter\$\{DocumentSecretsPath\}\/Y_PROVIDER_API_KEY$/),
      },
    },
  ]);
});

it("connections stay open, and a stopping task has time to write", () => {
  expect(propertiesOf("LoadBalancer").LoadBalancerAttributes).toContainEqual({
    Key: "idle_timeout.timeout_seconds",
    Value: "3600",
  });
  expect(propertiesOf("TargetGroup").HealthCheckPath).toBe("/ping");
  expect(container().StopTimeout).toBeGreaterThanOrEqual(30);
  expect(propertiesOf("LogGroup").RetentionInDays).toEqual({ Ref: "LogRetentionDays" });
});

it("the process has no rights, and its execution role only those to start it", () => {
  expect(propertiesOf("TaskDefinition").TaskRoleArn).toBeUndefined();
  const actions = propertiesOf("ExecutionPolicy1").PolicyDocument.Statement.flatMap(
    ({ Action }: { Action: string[] }) => Action,
  );
  expect(actions.toSorted()).toEqual([
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "ssm:GetParameters",
  ]);
});

it("clients reach the load balancer only", () => {
  const ingress = Object.entries(nested.Resources)
    .filter(([, { Type }]) => Type === "AWS::EC2::SecurityGroupIngress")
    .map(([id]) => [id, propertiesOf(id).GroupId["Fn::GetAtt"][0], propertiesOf(id).CidrIp]);
  expect(ingress).toEqual([
    ["ClientsToBalancer", "BalancerSecurityGroup", { Ref: "CollaborationIngressCidr" }],
    ["TasksFromBalancer", "TaskSecurityGroup", undefined],
    ["TasksFromTasks", "TaskSecurityGroup", undefined],
  ]);
});
