import { type ResourceMap, ref, STACK_NAME, sub } from "./intrinsics.ts";
import type { StackService } from "./services.ts";

export const LOG_GROUP_ID = "LogGroup";
export const RETENTION_PARAMETER = "LogRetentionDays";

/** Metric filters of the log: the metric, and the message of the lines. */
export const LOG_METRICS = {
  FailedRuns: "run failed",
  DeadLetters: "message dead-lettered",
} as const;

/** The namespace of an installation's own metrics; `stack` is its name or a reference to it. */
export const metricNamespace = (stack: string): { readonly "Fn::Sub": string } => sub(`Weft/${stack}`);

/** One log group for all functions of a service, and its metric filters. */
export function logResources(service: StackService): ResourceMap {
  const metrics = service === "workflows" ? Object.entries(LOG_METRICS) : [];
  return {
    [LOG_GROUP_ID]: {
      Type: "AWS::Logs::LogGroup",
      Properties: {
        LogGroupName: sub(`/weft/\${${STACK_NAME}}/${service}`),
        RetentionInDays: ref(RETENTION_PARAMETER),
      },
    },
    ...Object.fromEntries(
      metrics.map(([name, message]) => [
        `${name}Metric`,
        {
          Type: "AWS::Logs::MetricFilter",
          Properties: {
            LogGroupName: ref(LOG_GROUP_ID),
            FilterPattern: `{ $.message = "${message}" }`,
            MetricTransformations: [
              {
                MetricName: name,
                MetricNamespace: metricNamespace(`\${${STACK_NAME}}`),
                MetricValue: "1",
                DefaultValue: 0,
              },
            ],
          },
        },
      ]),
    ),
  };
}
