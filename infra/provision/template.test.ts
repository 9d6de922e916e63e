import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blueprintOfTemplate } from "./template.ts";

const read = (location: string): string =>
  readFileSync(new URL(`../../${location}`, import.meta.url), "utf8");
const templates = ["template.yaml", "infra/stacks/workflows.yaml"].map(read).join("\n");

describe("blueprintOfTemplate", () => {
  const blueprint = blueprintOfTemplate(read("template.yaml"), "home", "home-blobs", read);

  it("returns every resource of the provisioned kinds, with names prefixed by the stack", () => {
    const count = (type: string): number => templates.split(`Type: ${type}\n`).length - 1;
    expect(blueprint.tables).toHaveLength(count("AWS::DynamoDB::Table"));
    expect(blueprint.queues).toHaveLength(count("AWS::SQS::Queue"));
    expect(blueprint.rules).toHaveLength(count("AWS::Events::Rule"));
    expect(blueprint).toMatchObject({ buses: ["home"], buckets: ["home-blobs"] });
    const names = [...blueprint.tables, ...blueprint.queues, ...blueprint.rules].map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith("home-"))).toEqual([]);
  });

  it("gives every queue with a consumer a dead-letter queue of its kind", () => {
    const byName = new Map(blueprint.queues.map((queue) => [queue.name, queue]));
    const read = blueprint.queues.filter(({ deadLetter }) => deadLetter !== undefined);
    expect(read.length).toBeGreaterThan(5);
    for (const { fifo, deadLetter } of read) {
      expect(byName.get(deadLetter?.queue ?? "")?.fifo).toBe(fifo);
      expect(deadLetter?.maxReceiveCount).toBeGreaterThan(0);
    }
  });

  it("points every rule at existing queues, with a standard queue as its dead-letter queue", () => {
    const byName = new Map(blueprint.queues.map((queue) => [queue.name, queue]));
    for (const { targets, bus, when } of blueprint.rules) {
      expect(targets.length).toBeGreaterThan(0);
      expect(bus).toBe("schedule" in when ? undefined : "home");
      for (const { queue, groupId, deadLetterQueue } of targets) {
        expect(byName.get(queue)?.fifo).toBe(groupId !== undefined);
        expect(byName.get(deadLetterQueue ?? "")?.fifo).toBe(false);
      }
    }
  });
});

describe("blueprintOfTemplate, of an invalid template", () => {
  const noNested = (): string => {
    throw new Error("there are no nested templates");
  };
  const queue = (properties: string): string =>
    `Resources:\n  Jobs:\n    Type: AWS::SQS::Queue\n    Properties:\n      ${properties}\n`;

  it.each([
    ["QueueName: {Fn::Sub: '${Other}-jobs'}", "Jobs: cannot resolve"],
    ["QueueName: {Fn::ImportValue: jobs}", "Jobs: cannot resolve"],
    ["RedrivePolicy: {deadLetterTargetArn: {Ref: Gone}, maxReceiveCount: 3}", "Jobs: "],
    ["{QueueName: jobs, VisibilityTimeout: soon}", 'Jobs: "soon" is not a number'],
    [
      "{QueueName: jobs, RedrivePolicy: {deadLetterTargetArn: {Ref: Gone}, maxReceiveCount: 3}}",
      "Jobs: refers to Gone, which does not exist",
    ],
  ])("throws with the resource's name: %s", (properties, message) => {
    expect(() => blueprintOfTemplate(queue(properties), "home", "blobs", noNested)).toThrow(message);
  });

  it("throws if a rule refers to an output that its nested stack does not have", () => {
    const main = `Resources:
  Nested:
    Type: AWS::Serverless::Application
    Properties: { Location: nested.yaml }
  Tick:
    Type: AWS::Events::Rule
    Properties:
      Name: tick
      ScheduleExpression: rate(1 minute)
      Targets: [{ Id: queue, Arn: { Fn::GetAtt: [Nested, Outputs.JobsArn] } }]
`;
    const nested = (output: string): string =>
      `${queue("QueueName: jobs")}Outputs:\n  ${output}:\n    Value: { Fn::GetAtt: [Jobs, Arn] }\n`;

    expect(blueprintOfTemplate(main, "home", "blobs", () => nested("JobsArn")).rules).toMatchObject([
      { name: "tick", targets: [{ queue: "jobs" }] },
    ]);
    expect(() => blueprintOfTemplate(main, "home", "blobs", () => nested("OtherArn"))).toThrow(
      "Tick: refers to Outputs.JobsArn of Nested, which does not exist",
    );
  });
});
