import type { Consumer } from "../../lib/events/consumer.ts";
import { toPascalCase } from "../names.ts";
import { outputOf, type Resource, type ResourceMap, ref, stackName, sub } from "./intrinsics.ts";
import { mainQueue, undeliveredQueue } from "./queues.ts";

export const BUS_ID = "EventBus";

export function busResources(): ResourceMap {
  return { [BUS_ID]: { Type: "AWS::Events::EventBus", Properties: { Name: sub("${AWS::StackName}") } } };
}

/** The name of a queue's ARN among the outputs of a nested stack. */
export const arnOutput = (queueId: string): string => `${queueId}Arn`;

/** The rules that feed a consumer's queue, an output of a nested stack. */
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
    // Scheduled rules exist only on the account's default bus.
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
