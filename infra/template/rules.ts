import type { Consumer } from "../../lib/events/consumer.ts";
import { toPascalCase } from "../names.ts";
import { outputOf, type Resource, type ResourceMap, ref, stackName, sub } from "./intrinsics.ts";
import { mainQueue, undeliveredQueue } from "./queues.ts";

export const BUS_ID = "EventBus";

export function busResources(): ResourceMap {
  return { [BUS_ID]: { Type: "AWS::Events::EventBus", Properties: { Name: sub("${AWS::StackName}") } } };
}

/** What a nested stack calls the ARN of a queue among its outputs. */
export const arnOutput = (queueId: string): string => `${queueId}Arn`;

/** The rules that feed a consumer's queue, which a nested stack gives out. */
export function ruleResources(consumer: Consumer, stackId: string): ResourceMap {
  const main = mainQueue(consumer);
  const undelivered = undeliveredQueue(consumer);
  if (main === undefined || undelivered === undefined) return {};
  const pascal = toPascalCase(consumer.name);
  const target = {
    Id: "queue",
    Arn: outputOf(stackId, arnOutput(main.logicalId)),
    DeadLetterConfig: { Arn: outputOf(stackId, arnOutput(undelivered.logicalId)) },
    ...(consumer.queue.fifo === true ? { SqsParameters: { MessageGroupId: consumer.name } } : {}),
  };
  const rules: Record<string, Resource> = {};
  if (consumer.rule !== undefined) {
    rules[`${pascal}Rule`] = {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: stackName(consumer.name),
        EventBusName: ref(BUS_ID),
        EventPattern: consumer.rule,
        Targets: [target],
      },
    };
  }
  if (consumer.schedule !== undefined) {
    // Scheduled rules exist on the account's default bus alone.
    rules[`${pascal}Schedule`] = {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: stackName(consumer.name),
        ScheduleExpression: consumer.schedule,
        Targets: [target],
      },
    };
  }
  return rules;
}
