import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { toPascalCase } from "../names.ts";
import { type Scan, scanFunctions } from "../scan.ts";
import { toTemplates } from "./template.ts";

const found: Scan = await scanFunctions(fileURLToPath(new URL("../..", import.meta.url)));
const templates = toTemplates(found);
const main = templates.get("template.yaml")!;
const nested = templates.get("infra/stacks/workflows.yaml")!;
const alarmsOf = ({ Resources }: typeof main) =>
  Object.entries(Resources).filter(([, { Type }]) => Type === "AWS::CloudWatch::Alarm");
const alarms = [...alarmsOf(main), ...alarmsOf(nested)];

it("watches each queue, each dead-letter queue and each table, with at most ten metrics per alarm", () => {
  const text = JSON.stringify(alarms);
  const queues = Object.values(nested.Resources)
    .filter(({ Type }) => Type === "AWS::SQS::Queue")
    .map(({ Properties }) => (Properties!.QueueName as { "Fn::Sub": string })["Fn::Sub"]);
  expect(queues.length).toBeGreaterThan(10);
  const names = [
    ...queues.map((name) => name.replace("${StackName}", "${AWS::StackName}")),
    ...found.tables.map(({ name }) => `\${AWS::StackName}-${name}`),
  ];
  expect(names.filter((name) => !text.includes(JSON.stringify({ "Fn::Sub": name })))).toEqual([]);
  for (const [, { Properties }] of alarms)
    expect(((Properties!.Metrics ?? []) as unknown[]).length).toBeLessThanOrEqual(11);
});

it("allows steps more time than other messages, wherever they are executed", () => {
  const watchedBy = (name: string): unknown => JSON.stringify(main.Resources[name]!.Properties!.Metrics);
  for (const queue of ["bash", "function", "http", "workspace-steps"]) {
    expect(watchedBy("StepAgeAlarm")).toContain(`"\${AWS::StackName}-${queue}"`);
    expect(watchedBy("MessageAgeAlarm")).not.toContain(`"\${AWS::StackName}-${queue}"`);
  }
  const longest = Math.max(
    ...found.consumers
      .filter(({ consumer }) => consumer.executor !== true)
      .map(({ consumer }) => consumer.timeoutSeconds),
  );
  expect(main.Resources.MessageAgeAlarm!.Properties!.Threshold).toBeGreaterThan(longest);
});

it("notifies a topic only if there is one", () => {
  for (const { Conditions } of [main, nested])
    expect(Conditions).toMatchObject({
      HasAlarmTopic: { "Fn::Not": [{ "Fn::Equals": [{ Ref: "AlarmTopicArn" }, ""] }] },
    });
  for (const [, { Properties }] of alarms) {
    expect(Properties!.AlarmActions).toEqual({
      "Fn::If": ["HasAlarmTopic", [{ Ref: "AlarmTopicArn" }], { Ref: "AWS::NoValue" }],
    });
  }
});

it("alarms on faults of the service (5xx of both APIs, errors of consumers, throttled indexes), and not on failed runs", () => {
  const text = JSON.stringify(alarms);
  expect(text).not.toContain("FailedRuns");
  for (const name of ["workflows", "documents"])
    expect(JSON.stringify(main.Resources.ApiErrorsAlarm)).toContain(`\${AWS::StackName}-${name}`);
  for (const { name, indexes } of found.tables)
    for (const index of Object.keys(indexes)) {
      const dimensions = [
        { Name: "TableName", Value: { "Fn::Sub": `\${AWS::StackName}-${name}` } },
        { Name: "GlobalSecondaryIndexName", Value: index },
      ];
      for (const metric of ["ReadThrottleEvents", "WriteThrottleEvents"])
        expect(text).toContain(
          JSON.stringify({ Namespace: "AWS/DynamoDB", MetricName: metric, Dimensions: dimensions }),
        );
    }
  const consumers = found.consumers.filter(({ consumer }) => consumer.worker !== true);
  for (const { consumer } of consumers) {
    const Value = { Ref: `${toPascalCase(consumer.name)}Function` };
    const metric = {
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Dimensions: [{ Name: "FunctionName", Value }],
    };
    expect(text).toContain(JSON.stringify(metric));
    expect(nested.Resources).toHaveProperty(Value.Ref);
  }
});

it("counts failed runs and dead letters of the log under the names that alarms and dashboard use", () => {
  expect(main.Resources.DeadLettersAlarm!.Properties).toMatchObject({
    MetricName: "DeadLetters",
    Namespace: { "Fn::Sub": "Weft/${AWS::StackName}" },
  });
  for (const name of ["FailedRuns", "DeadLetters"]) {
    expect(nested.Resources[`${name}Metric`]!.Properties).toMatchObject({
      LogGroupName: { Ref: "LogGroup" },
      MetricTransformations: [{ MetricName: name, MetricNamespace: { "Fn::Sub": "Weft/${StackName}" } }],
    });
    expect(JSON.stringify(main.Resources.Dashboard)).toContain(name);
  }
});

it("has a dashboard of the installation's metrics, which is valid JSON after substitution", () => {
  const { DashboardBody } = main.Resources.Dashboard!.Properties as { DashboardBody: { "Fn::Sub": string } };
  const body = JSON.parse(
    DashboardBody["Fn::Sub"]
      .replaceAll("${AWS::StackName}", "weft")
      .replaceAll("${AWS::Region}", "eu-west-1"),
  ) as { widgets: { properties: { title: string; metrics: unknown[] } }[] };

  expect(body.widgets.length).toBeGreaterThan(6);
  for (const { properties } of body.widgets) expect(properties.metrics.length).toBeGreaterThan(0);
  expect(JSON.stringify(body)).not.toContain("${");
});
