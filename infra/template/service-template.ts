import { formatQueueNames } from "../../lib/platform/queue-names.ts";
import type { ScannedConsumer } from "../scan.ts";
import { ACCESS } from "./access.ts";
import { functionAlarms, TOPIC_PARAMETER, topicResources } from "./alarms.ts";
import {
  consumerFunction,
  converterFunction,
  FUNCTION_GLOBALS,
  functionId,
  rendererFunction,
  routeFunction,
  unsupportedMethodFunctions,
} from "./functions.ts";
import { API_ID, gatewayResources, STAGE } from "./gateway.ts";
import { arnOf, mergeResources, ref, STACK_NAME, sub } from "./intrinsics.ts";
import { LOG_GROUP_ID, logResources, RETENTION_PARAMETER } from "./logs.ts";
import { PROTECTION_CONDITIONS, SERVICE_PROTECTION_PARAMETERS } from "./protection.ts";
import { deadLetterQueues, mainQueue, queueResources, sourcesOf, undeliveredQueue } from "./queues.ts";
import {
  BLOBS_PARAMETER,
  BUS_PARAMETER,
  roleId,
  roleResources,
  SECRETS_PARAMETER,
  TOKEN_PARAMETER,
  WORKER_PROFILE_ID,
} from "./roles.ts";
import { arnOutput } from "./rules.ts";
import type { SamTemplate } from "./sam-template.ts";
import { hasContentFunctions, type ServiceScan, type StackService } from "./services.ts";
import { serviceSettingParameters, settingVariables } from "./step-settings.ts";

/** Parameters of a service's stack. */
export const SERVICE_PARAMETERS = {
  [STACK_NAME]: { Type: "String", Description: "Name of the main stack, the prefix of all names" },
  [BUS_PARAMETER]: { Type: "String", Description: "Name of the bus" },
  [BLOBS_PARAMETER]: { Type: "String", Description: "Name of the bucket for blobs", MaxLength: 63 },
  [TOKEN_PARAMETER]: {
    Type: "String",
    Description: "Name of the parameter with the owner's access token",
    MaxLength: 63,
  },
  [SECRETS_PARAMETER]: {
    Type: "String",
    Description: "Prefix of the names of parameters with secrets of workflows",
    MaxLength: 63,
  },
  [RETENTION_PARAMETER]: { Type: "Number", Description: "Retention period of logs, days" },
  [TOPIC_PARAMETER]: { Type: "String", Description: "ARN of the topic that alarms notify" },
  ...SERVICE_PROTECTION_PARAMETERS,
  ...serviceSettingParameters(),
} as const;

export const WORKER_ROLE_OUTPUT = "WorkerRoleArn";
export const WORKER_PROFILE_OUTPUT = "WorkerInstanceProfileArn";

/** The nested template of a service: its API, functions, queues, roles and logs. `all` are the consumers of all services. */
export function toServiceTemplate(
  scan: ServiceScan,
  all: readonly ScannedConsumer[],
  options: { readonly publishAsMit: boolean },
): SamTemplate {
  const { service, routes, consumers } = scan;
  const targets = consumers.flatMap(({ consumer }) => {
    const undelivered = undeliveredQueue(consumer);
    const main = mainQueue(consumer);
    return undelivered === undefined || main === undefined ? [] : [main, undelivered];
  });
  const resources = mergeResources([
    ...(routes.length === 0 ? [] : [gatewayResources(service)]),
    ...routes.map(routeFunction),
    unsupportedMethodFunctions(routes),
    ...consumers.map((scanned) => ({
      ...consumerFunction(scanned, sourcesOf(scanned.consumer, consumers)),
      ...queueResources(scanned.consumer, consumers),
    })),
    ...(hasContentFunctions(service) ? [converterFunction(options), rendererFunction()] : []),
    roleResources(scan, ACCESS[service]),
    logResources(service),
    functionAlarms(
      consumers
        .filter(({ consumer }) => consumer.worker !== true)
        .map(({ consumer }) => functionId(consumer.name)),
    ),
  ]);
  const usedConditions = JSON.stringify(resources);
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Description: `Weft: the functions of the ${service} service`,
    Parameters: SERVICE_PARAMETERS,
    Conditions: Object.fromEntries(
      Object.entries({ ...topicResources(), ...PROTECTION_CONDITIONS }).filter(([name]) =>
        usedConditions.includes(`"${name}"`),
      ),
    ),
    Globals: {
      Function: {
        ...FUNCTION_GLOBALS,
        LoggingConfig: { LogFormat: "JSON", LogGroup: ref(LOG_GROUP_ID) },
        Environment: {
          Variables: {
            ...environment(service, all),
            // A fact of the build, not a parameter: the packages are in its bundles or not.
            ...(options.publishAsMit || !hasContentFunctions(service) ? {} : { PUBLISH_AS_MIT: "false" }),
          },
        },
      },
    },
    Resources: resources,
    Outputs: {
      ...(routes.length === 0
        ? {}
        : {
            ApiId: { Description: "Id of the service's API", Value: ref(API_ID) },
            ApiUrl: {
              Description: "URL of the service",
              Value: sub(`https://\${${API_ID}}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/${STAGE}`),
            },
          }),
      ...(consumers.some(({ consumer }) => consumer.worker === true)
        ? {
            [WORKER_ROLE_OUTPUT]: { Description: "Role of workers", Value: arnOf(roleId("workers")) },
            [WORKER_PROFILE_OUTPUT]: {
              Description: "Instance profile of workers",
              Value: arnOf(WORKER_PROFILE_ID),
            },
          }
        : {}),
      ...Object.fromEntries(
        targets.map(({ logicalId }) => [arnOutput(logicalId), { Value: arnOf(logicalId) }]),
      ),
    },
  };
}

/** `consumers` are those of all services: each may send to the others' queues. */
function environment(service: StackService, consumers: readonly ScannedConsumer[]): Record<string, unknown> {
  // A service without queues only has those that it sends to.
  const sent = service === "documents" ? ACCESS.documents.http.sends : "all";
  const queues = consumers.flatMap(({ consumer }) => {
    const main = mainQueue(consumer);
    if (sent !== "all") return main !== undefined && sent?.includes(consumer.name) === true ? [main] : [];
    return [...(main === undefined ? [] : [main]), ...deadLetterQueues(consumer)];
  });
  return {
    NODE_OPTIONS: "--enable-source-maps",
    WEFT_PLATFORM: "aws",
    WEFT_STACK: ref(STACK_NAME),
    WEFT_BLOBS_BUCKET: ref(BLOBS_PARAMETER),
    WEFT_QUEUES: formatQueueNames(queues.map(({ name }) => name)),
    WEFT_ACCESS_TOKEN_PARAMETER: ref(TOKEN_PARAMETER),
    WEFT_SECRETS_PATH: ref(SECRETS_PARAMETER),
    ...settingVariables(service),
  };
}
