import {
  CreateEventBusCommand,
  type EventBridgeClient,
  ListTargetsByRuleCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
  ResourceAlreadyExistsException,
  type Target,
} from "@aws-sdk/client-eventbridge";
import { SetQueueAttributesCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { FIRE_QUEUE, SCHEDULE_RULES } from "../../scheduler.ts";
import { withFaults } from "../faults.ts";
import { withStackName } from "../table-layout.ts";
import type { RuleBlueprint, TargetBlueprint } from "./blueprint.ts";
import type { ProvisionedQueue, ProvisionedQueues } from "./queues.ts";

export async function provisionBus(client: EventBridgeClient, name: string): Promise<void> {
  try {
    await withFaults(() => client.send(new CreateEventBusCommand({ Name: name })));
  } catch (error) {
    if (!(error instanceof ResourceAlreadyExistsException)) throw error;
  }
}

function queueOf(queues: ProvisionedQueues, name: string): ProvisionedQueue {
  const queue = queues.get(name);
  if (queue === undefined) throw new Error(`a rule refers to the queue ${name}, which does not exist`);
  return queue;
}

function toTarget(queues: ProvisionedQueues, target: TargetBlueprint): Target {
  const { id, queue, groupId, deadLetterQueue } = target;
  return {
    Id: id,
    Arn: queueOf(queues, queue).arn,
    ...(groupId === undefined ? {} : { SqsParameters: { MessageGroupId: groupId } }),
    ...(deadLetterQueue === undefined
      ? {}
      : { DeadLetterConfig: { Arn: queueOf(queues, deadLetterQueue).arn } }),
  };
}

async function provisionRule(
  client: EventBridgeClient,
  queues: ProvisionedQueues,
  { name, bus, when, targets }: RuleBlueprint,
): Promise<string> {
  const on = bus === undefined ? {} : { EventBusName: bus };
  const rule = new PutRuleCommand({
    Name: name,
    ...on,
    State: "ENABLED",
    ...("pattern" in when
      ? { EventPattern: JSON.stringify(when.pattern) }
      : { ScheduleExpression: when.schedule }),
  });
  const { RuleArn } = await withFaults(() => client.send(rule));
  if (RuleArn === undefined) throw new Error(`EventBridge returned no ARN of the rule ${name}`);
  const Targets = targets.map((target) => toTarget(queues, target));
  const put = await withFaults(() => client.send(new PutTargetsCommand({ Rule: name, ...on, Targets })));
  const [refused] = put.FailedEntries ?? [];
  if (refused !== undefined)
    throw new Error(`EventBridge rejected a target of ${name}: ${refused.ErrorMessage ?? refused.ErrorCode}`);
  const listed = await withFaults(() => client.send(new ListTargetsByRuleCommand({ Rule: name, ...on })));
  const Ids = (listed.Targets ?? []).flatMap(({ Id }) =>
    Id === undefined || targets.some(({ id }) => id === Id) ? [] : [Id],
  );
  if (Ids.length > 0) {
    await withFaults(() => client.send(new RemoveTargetsCommand({ Rule: name, ...on, Ids })));
  }
  return RuleArn;
}

/** Sets the queue's policy: only these rules may send to it. */
async function allow(client: SQSClient, queue: ProvisionedQueue, ruleArns: readonly string[]): Promise<void> {
  const policy = {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Principal: { Service: "events.amazonaws.com" },
        Action: "sqs:SendMessage",
        Resource: queue.arn,
        Condition: { ArnLike: { "aws:SourceArn": ruleArns } },
      },
    ],
  };
  const Attributes = { Policy: JSON.stringify(policy) };
  await withFaults(() => client.send(new SetQueueAttributesCommand({ QueueUrl: queue.url, Attributes })));
}

const FIRE = withStackName("", FIRE_QUEUE);

/**
 * The ARN pattern of the scheduler's rules of the same stack, which may send to the queue in addition to the
 * template's.
 */
function furtherRules(queue: string, ruleArn: string): string[] {
  if (!queue.endsWith(FIRE)) return [];
  const rules = withStackName(queue.slice(0, -FIRE.length), SCHEDULE_RULES);
  return [ruleArn.replace(/:rule\/.*$/, `:rule/${rules}*`)];
}

/** Creates the rules or updates their pattern, schedule and targets, and permits them to send to their queues. */
export async function provisionRules(
  clients: { readonly eventbridge: EventBridgeClient; readonly sqs: SQSClient },
  queues: ProvisionedQueues,
  rules: readonly RuleBlueprint[],
): Promise<void> {
  const senders = new Map<string, string[]>();
  for (const rule of rules) {
    const arn = await provisionRule(clients.eventbridge, queues, rule);
    for (const { queue, deadLetterQueue } of rule.targets) {
      for (const name of deadLetterQueue === undefined ? [queue] : [queue, deadLetterQueue]) {
        senders.set(name, [...(senders.get(name) ?? []), arn, ...furtherRules(name, arn)]);
      }
    }
  }
  for (const [name, arns] of senders) await allow(clients.sqs, queueOf(queues, name), arns);
}
