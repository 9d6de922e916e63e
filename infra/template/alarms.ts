import type { TableSpec } from "../../lib/platform/tables.ts";
import { apiName, STAGE } from "./gateway.ts";
import { type Resource, type ResourceMap, ref, stackName } from "./intrinsics.ts";
import { type LOG_METRICS, metricNamespace } from "./logs.ts";
import { deadLetterQueues, mainQueue } from "./queues.ts";
import type { ServiceScan } from "./services.ts";

/** Logical ids of the template's alarms. */
export const topicResources = () => ({
  [TOPIC_CONDITION]: { "Fn::Not": [{ "Fn::Equals": [ref(TOPIC_PARAMETER), ""] }] },
});

export const TOPIC_PARAMETER = "AlarmTopicArn";
export const TOPIC_CONDITION = "HasAlarmTopic";

const MINUTE = 60;
const PERIOD_SECONDS = 5 * MINUTE;
/** The maximum number of metrics of an alarm. */
const METRICS_MAX = 10;
/** 5xx responses per period: a deployment may cause one. */
const API_ERRORS_MAX = 5;
/** Age of a message whose consumer does not keep up, seconds. */
const AGE_MAX_SECONDS = 10 * MINUTE;
/** A step may take long, and its message stays in the queue meanwhile, seconds. */
const STEP_AGE_MAX_SECONDS = 60 * MINUTE;

interface Metric {
  readonly Namespace: unknown;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface Watch {
  readonly description: string;
  readonly metrics: readonly Metric[];
  readonly stat: "Maximum" | "Sum";
  /** The alarm goes off above it. */
  readonly threshold: number;
}

/** Alarms on conditions that no healthy installation has. They notify the topic, if there is one. */
export function alarmResources(services: readonly ServiceScan[], tables: readonly TableSpec[]): ResourceMap {
  const consumers = services.flatMap((service) => service.consumers.map(({ consumer }) => consumer));
  const queueAges = (ofSteps: boolean): Metric[] =>
    consumers
      .filter((consumer) => (consumer.executor === true) === ofSteps)
      .flatMap((consumer) => mainQueue(consumer) ?? [])
      .map(({ name }) => queueMetric("ApproximateAgeOfOldestMessage", name));
  return {
    ...toAlarms("ApiErrorsAlarm", {
      description: "Requests returned 5xx",
      metrics: services
        .filter(({ routes }) => routes.length > 0)
        .map(({ service }) => ({
          Namespace: "AWS/ApiGateway",
          MetricName: "5XXError",
          Dimensions: [
            { Name: "ApiName", Value: stackName(apiName(service)) },
            { Name: "Stage", Value: STAGE },
          ],
        })),
      stat: "Sum",
      threshold: API_ERRORS_MAX,
    }),
    ...toAlarms("DeadLettersAlarm", {
      description: "Messages became dead letters: GET /automation/dead-letters lists them",
      metrics: [ownMetric("DeadLetters")],
      stat: "Sum",
      threshold: 0,
    }),
    ...toAlarms("DeadLetterDepthAlarm", {
      description: "Dead-letter queues contain messages that are not being processed",
      metrics: consumers
        .flatMap(deadLetterQueues)
        .map(({ name }) => queueMetric("ApproximateNumberOfMessagesVisible", name)),
      stat: "Maximum",
      threshold: 0,
    }),
    ...toAlarms("MessageAgeAlarm", {
      description: "A consumer does not keep up with its queue",
      metrics: queueAges(false),
      stat: "Maximum",
      threshold: AGE_MAX_SECONDS,
    }),
    ...toAlarms("StepAgeAlarm", {
      description: "Steps wait for an executor, or take very long",
      metrics: queueAges(true),
      stat: "Maximum",
      threshold: STEP_AGE_MAX_SECONDS,
    }),
    ...toAlarms("FunctionThrottlesAlarm", {
      description: "Functions of the account are throttled",
      metrics: [{ Namespace: "AWS/Lambda", MetricName: "Throttles" }],
      stat: "Sum",
      threshold: 0,
    }),
    ...toAlarms("TableThrottlesAlarm", {
      description: "Reads or writes of tables are throttled",
      metrics: tables.flatMap(({ name, indexes }) =>
        [undefined, ...Object.keys(indexes)].flatMap((index) => throttleMetrics(name, index)),
      ),
      stat: "Sum",
      threshold: 0,
    }),
  };
}

/** Alarms on functions without a waiting request: part of a service's template, which has their names. */
export function functionAlarms(functionIds: readonly string[]): ResourceMap {
  return toAlarms("FunctionErrorsAlarm", {
    description: "Consumers failed: they crashed or timed out",
    metrics: functionIds.map((id) => ({
      Namespace: "AWS/Lambda",
      MetricName: "Errors",
      Dimensions: [{ Name: "FunctionName", Value: ref(id) }],
    })),
    stat: "Sum",
    threshold: 0,
  });
}

/** DynamoDB counts throttled requests of an index and of its table separately. */
function throttleMetrics(table: string, index: string | undefined): Metric[] {
  const ofIndex = index === undefined ? [] : [{ Name: "GlobalSecondaryIndexName", Value: index }];
  return ["ReadThrottleEvents", "WriteThrottleEvents"].map((MetricName) => ({
    Namespace: "AWS/DynamoDB",
    MetricName,
    Dimensions: [{ Name: "TableName", Value: stackName(table) }, ...ofIndex],
  }));
}

function ownMetric(name: keyof typeof LOG_METRICS): Metric {
  return { Namespace: metricNamespace("${AWS::StackName}"), MetricName: name };
}

function queueMetric(MetricName: string, queue: string): Metric {
  return { Namespace: "AWS/SQS", MetricName, Dimensions: [{ Name: "QueueName", Value: stackName(queue) }] };
}

/** As many alarms as the metrics need; the first has the plain name. */
function toAlarms(name: string, watch: Watch): ResourceMap {
  const alarms: [string, Resource][] = [];
  for (let from = 0; from < watch.metrics.length; from += METRICS_MAX) {
    const metrics = watch.metrics.slice(from, from + METRICS_MAX);
    const number = from === 0 ? "" : String(from / METRICS_MAX + 1);
    alarms.push([`${name}${number}`, toAlarm({ ...watch, metrics })]);
  }
  return Object.fromEntries(alarms);
}

function toAlarm({ description, metrics, stat, threshold }: Watch): Resource {
  const [only, ...others] = metrics;
  const common = {
    AlarmDescription: description,
    ComparisonOperator: "GreaterThanThreshold",
    Threshold: threshold,
    EvaluationPeriods: 1,
    TreatMissingData: "notBreaching",
    AlarmActions: { "Fn::If": [TOPIC_CONDITION, [ref(TOPIC_PARAMETER)], ref("AWS::NoValue")] },
  };
  if (others.length === 0) {
    return {
      Type: "AWS::CloudWatch::Alarm",
      Properties: { ...common, ...only, Statistic: stat, Period: PERIOD_SECONDS },
    };
  }
  const queries = metrics.map((Metric, index) => ({
    Id: `m${index + 1}`,
    MetricStat: { Metric, Period: PERIOD_SECONDS, Stat: stat },
    ReturnData: false,
  }));
  const all = queries.map(({ Id }) => Id).join(",");
  return {
    Type: "AWS::CloudWatch::Alarm",
    Properties: {
      ...common,
      Metrics: [
        { Id: "all", Expression: `${stat === "Sum" ? "SUM" : "MAX"}([${all}])`, ReturnData: true },
        ...queries,
      ],
    },
  };
}
