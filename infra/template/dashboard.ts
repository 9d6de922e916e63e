import { apiName, STAGE } from "./gateway.ts";
import { type ResourceMap, stackName, sub } from "./intrinsics.ts";
import { LOG_METRICS } from "./logs.ts";
import { deadLetterQueues, mainQueue } from "./queues.ts";
import type { ServiceScan, StackService } from "./services.ts";

const STACK = "${AWS::StackName}";
const PERIOD_SECONDS = 300;
/** Width in the 24 columns of a dashboard. */
const WIDTH = 12;
const HEIGHT = 6;

interface Graph {
  readonly title: string;
  readonly stat: string;
  /** Each is a namespace, a metric and its dimensions. */
  readonly metrics: readonly (readonly (string | object)[])[];
}

/** A dashboard of the installation's health. */
export function dashboardResources(services: readonly ServiceScan[]): ResourceMap {
  const consumers = services.flatMap((service) => service.consumers.map(({ consumer }) => consumer));
  const mains = consumers.flatMap((consumer) => mainQueue(consumer) ?? []);
  const queueGraph = (metric: string, names: readonly string[]): Graph["metrics"] =>
    names.map((name) => ["AWS/SQS", metric, "QueueName", `${STACK}-${name}`]);
  const functions = (metric: string): Graph["metrics"] => [
    [
      {
        expression: `SEARCH('{AWS/Lambda,FunctionName} FunctionName="${STACK}" MetricName="${metric}"', 'Sum')`,
        id: "functions",
        label: "",
      },
    ],
  ];
  const graphs: Graph[] = [
    {
      title: "Failed runs and dead letters",
      stat: "Sum",
      metrics: Object.keys(LOG_METRICS).map((name) => [`Weft/${STACK}`, name]),
    },
    ...services
      .filter(({ routes }) => routes.length > 0)
      .flatMap(({ service }) => [
        {
          title: `Requests and errors of ${service}`,
          stat: "Sum",
          metrics: ["Count", "4XXError", "5XXError"].map((metric) => apiMetric(metric, service)),
        },
        { title: `Time of ${service}, p95`, stat: "p95", metrics: [apiMetric("Latency", service)] },
      ]),
    {
      title: "Age of the oldest message",
      stat: "Maximum",
      metrics: queueGraph(
        "ApproximateAgeOfOldestMessage",
        mains.map(({ name }) => name),
      ),
    },
    {
      title: "Messages that wait",
      stat: "Maximum",
      metrics: queueGraph(
        "ApproximateNumberOfMessagesVisible",
        mains.map(({ name }) => name),
      ),
    },
    {
      title: "Unprocessed dead letters",
      stat: "Maximum",
      metrics: queueGraph(
        "ApproximateNumberOfMessagesVisible",
        consumers.flatMap(deadLetterQueues).map(({ name }) => name),
      ),
    },
    { title: "Errors of functions", stat: "Sum", metrics: functions("Errors") },
    { title: "Throttled functions", stat: "Sum", metrics: functions("Throttles") },
  ];
  return {
    Dashboard: {
      Type: "AWS::CloudWatch::Dashboard",
      Properties: {
        DashboardName: stackName("overview"),
        DashboardBody: sub(JSON.stringify({ widgets: graphs.map(toWidget) })),
      },
    },
  };
}

function apiMetric(metric: string, service: StackService): (string | object)[] {
  return ["AWS/ApiGateway", metric, "ApiName", `${STACK}-${apiName(service)}`, "Stage", STAGE];
}

function toWidget({ title, stat, metrics }: Graph, index: number) {
  return {
    type: "metric",
    x: (index % 2) * WIDTH,
    y: Math.floor(index / 2) * HEIGHT,
    width: WIDTH,
    height: HEIGHT,
    properties: {
      title,
      stat,
      metrics,
      period: PERIOD_SECONDS,
      region: "${AWS::Region}",
      view: "timeSeries",
    },
  };
}
