import { toPascalCase } from "../names.ts";
import type { Scan } from "../scan.ts";
import { alarmResources, TOPIC_PARAMETER, topicResources } from "./alarms.ts";
import {
  COLLABORATION_CONDITIONS,
  COLLABORATION_FILE,
  COLLABORATION_OUTPUTS,
  COLLABORATION_PARAMETERS,
  collaborationStack,
  toCollaborationTemplate,
} from "./collaboration.ts";
import { dashboardResources } from "./dashboard.ts";
import { DOMAIN_CONDITIONS, DOMAIN_OUTPUTS, DOMAIN_PARAMETERS, domainResources } from "./domain.ts";
import { mergeResources, outputOf, type ResourceMap, ref, STACK_NAME } from "./intrinsics.ts";
import { RETENTION_PARAMETER } from "./logs.ts";
import {
  ACCOUNT_CONDITIONS,
  accountResources,
  PROTECTION_PARAMETERS,
  protectionArguments,
} from "./protection.ts";
import { BLOBS_PARAMETER, BUS_PARAMETER, SECRETS_PARAMETER, TOKEN_PARAMETER } from "./roles.ts";
import { BUS_ID, busResources, ruleResources } from "./rules.ts";
import type { SamTemplate } from "./sam-template.ts";
import { toServiceTemplate, WORKER_PROFILE_OUTPUT, WORKER_ROLE_OUTPUT } from "./service-template.ts";
import { type ServiceScan, servicesOf, stackFile, stackId } from "./services.ts";
import { settingArguments, settingParameters } from "./step-settings.ts";
import { BLOBS_ID, bucketResources, tableId, tableResources } from "./storage.ts";
import { WEB_CONDITIONS, WEB_OUTPUTS, WEB_PARAMETERS, webResources } from "./web.ts";

export const MAIN_TEMPLATE = "template.yaml";

/** Retention periods that a log group supports, days. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

/** Name of a parameter, or common prefix of several, in the parameter store. */
const STORED_NAME = "^(?:/[A-Za-z0-9_.-]+)+$";

/** Policies and environments of functions are sized for names of this length. */
const STORED_NAME_MAX_LENGTH = 63;

/**
 * The templates of a scan, by file name relative to the root; the main template comes first. With `publishAsMit: false`
 * the bundle of the converter contains the editor's packages under other licenses.
 */
export function toTemplates(
  scan: Scan,
  options: { readonly publishAsMit: boolean } = { publishAsMit: true },
): ReadonlyMap<string, SamTemplate> {
  const services = servicesOf(scan);
  return new Map([
    [MAIN_TEMPLATE, toMainTemplate(scan, services)],
    ...services.map(
      (service) => [stackFile(service.service), toServiceTemplate(service, scan.consumers, options)] as const,
    ),
    ...(hasBoth(services) ? [[COLLABORATION_FILE, toCollaborationTemplate()] as const] : []),
  ]);
}

/** The resources that the services share. */
function toMainTemplate({ tables, routes }: Scan, services: readonly ServiceScan[]): SamTemplate {
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Description: "Weft: workflows and documents on one event bus",
    Parameters: {
      [TOKEN_PARAMETER]: {
        Type: "String",
        Description:
          "Name of the parameter of the parameter store (a SecureString) that holds the owner's access token",
        Default: "/weft/access-token",
        MaxLength: STORED_NAME_MAX_LENGTH,
        AllowedPattern: STORED_NAME,
        ConstraintDescription: "must be the name of a parameter, and begin with a slash",
      },
      [SECRETS_PARAMETER]: {
        Type: "String",
        Description:
          "Path of the secrets of workflows in the parameter store: {{secrets.NAME}} is the parameter NAME below it",
        Default: "/weft/secrets",
        MaxLength: STORED_NAME_MAX_LENGTH,
        AllowedPattern: STORED_NAME,
        ConstraintDescription: "must begin with a slash and end without one",
      },
      [RETENTION_PARAMETER]: {
        Type: "Number",
        Description: "Retention period of logs, days",
        Default: 30,
        AllowedValues: RETENTION_DAYS,
      },
      [TOPIC_PARAMETER]: {
        Type: "String",
        Description: "ARN of the topic that alarms notify; empty for none",
        Default: "",
        AllowedPattern: "^$|^arn:[a-z-]+:sns:.+$",
      },
      ...PROTECTION_PARAMETERS,
      ...DOMAIN_PARAMETERS,
      ...(hasBoth(services) ? WEB_PARAMETERS : {}),
      ...(hasBoth(services) ? COLLABORATION_PARAMETERS : {}),
      ...settingParameters(),
    },
    Conditions: {
      ...topicResources(),
      ...ACCOUNT_CONDITIONS,
      ...DOMAIN_CONDITIONS,
      ...(hasBoth(services) ? WEB_CONDITIONS : {}),
      ...(hasBoth(services) ? COLLABORATION_CONDITIONS : {}),
    },
    Resources: mergeResources([
      ...services.map(stackResource),
      ...services.flatMap(({ service, consumers }) =>
        consumers.map(({ consumer }) => ruleResources(consumer, stackId(service))),
      ),
      busResources(),
      ...tables.map(tableResources),
      bucketResources(),
      alarmResources(services, tables),
      dashboardResources(services),
      accountResources(),
      hasBoth(services) ? domainResources() : {},
      hasBoth(services) ? webResources(routes) : {},
      hasBoth(services) ? collaborationStack() : {},
    ]),
    Outputs: {
      ...Object.fromEntries(
        services
          .filter(({ routes }) => routes.length > 0)
          .map(({ service }) => [
            `${toPascalCase(service)}BaseUrl`,
            {
              Description: `URL of the ${service} service`,
              Value: outputOf(stackId(service), "ApiUrl"),
            },
          ]),
      ),
      ...Object.fromEntries(
        services
          .filter(({ consumers }) => consumers.some(({ consumer }) => consumer.worker === true))
          .flatMap(({ service }) =>
            [WORKER_ROLE_OUTPUT, WORKER_PROFILE_OUTPUT].map((name) => [
              name,
              {
                Description: "For workers: see infra/sam/README.md",
                Value: outputOf(stackId(service), name),
              },
            ]),
          ),
      ),
      ...(hasBoth(services) ? { ...DOMAIN_OUTPUTS, ...WEB_OUTPUTS, ...COLLABORATION_OUTPUTS } : {}),
      EventBusName: { Description: "The bus", Value: ref(BUS_ID) },
      BlobsBucketName: { Description: "The bucket for blobs", Value: ref(BLOBS_ID) },
      ...Object.fromEntries(
        tables.map((table) => [
          `${tableId(table)}Name`,
          { Description: `The table ${table.name}`, Value: ref(tableId(table)) },
        ]),
      ),
    },
  };
}

/** A custom domain serves both APIs. */
const hasBoth = (services: readonly ServiceScan[]): boolean =>
  services.filter(({ routes }) => routes.length > 0).length > 1;

function stackResource({ service }: ServiceScan): ResourceMap {
  return {
    [stackId(service)]: {
      Type: "AWS::Serverless::Application",
      Properties: {
        Location: stackFile(service),
        Parameters: {
          [STACK_NAME]: ref("AWS::StackName"),
          [BUS_PARAMETER]: ref(BUS_ID),
          [BLOBS_PARAMETER]: ref(BLOBS_ID),
          [TOKEN_PARAMETER]: ref(TOKEN_PARAMETER),
          [SECRETS_PARAMETER]: ref(SECRETS_PARAMETER),
          [RETENTION_PARAMETER]: ref(RETENTION_PARAMETER),
          [TOPIC_PARAMETER]: ref(TOPIC_PARAMETER),
          ...protectionArguments(),
          ...settingArguments(),
        },
      },
    },
  };
}
