import { toPascalCase } from "../names.ts";
import type { Scan } from "../scan.ts";
import { alarmResources, TOPIC_PARAMETER, topicCondition } from "./alarms.ts";
import { dashboardResources } from "./dashboard.ts";
import { DOMAIN_CONDITIONS, DOMAIN_OUTPUTS, DOMAIN_PARAMETERS, domainResources } from "./domain.ts";
import { merged, outputOf, type ResourceMap, ref, STACK_NAME } from "./intrinsics.ts";
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

export const MAIN_TEMPLATE = "template.yaml";

/** What a log group may keep its lines for, days. */
const RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653];

/** A parameter of the parameter store, or what the names of several begin with. */
const STORED_NAME = "^(?:/[A-Za-z0-9_.-]+)+$";

/** What is deployed, from what was found: each template by its file, from the root. The main one comes first. */
export function toTemplates(scan: Scan): ReadonlyMap<string, SamTemplate> {
  const services = servicesOf(scan);
  return new Map([
    [MAIN_TEMPLATE, toMainTemplate(scan, services)],
    ...services.map(
      (service) => [stackFile(service.service), toServiceTemplate(service, scan.consumers)] as const,
    ),
  ]);
}

/** What the services share, and what ties them together. */
function toMainTemplate({ tables }: Scan, services: readonly ServiceScan[]): SamTemplate {
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
        AllowedPattern: STORED_NAME,
        ConstraintDescription: "must be the name of a parameter, beginning with a slash",
      },
      [SECRETS_PARAMETER]: {
        Type: "String",
        Description:
          "Where the parameter store holds the secrets of workflows: {{secrets.NAME}} is the parameter NAME below it",
        Default: "/weft/secrets",
        AllowedPattern: STORED_NAME,
        ConstraintDescription: "must begin with a slash and end without one",
      },
      [RETENTION_PARAMETER]: {
        Type: "Number",
        Description: "Days that logs are kept",
        Default: 30,
        AllowedValues: RETENTION_DAYS,
      },
      [TOPIC_PARAMETER]: {
        Type: "String",
        Description: "ARN of the topic that alarms tell; none where it is empty",
        Default: "",
        AllowedPattern: "^$|^arn:[a-z-]+:sns:.+$",
      },
      ...PROTECTION_PARAMETERS,
      ...DOMAIN_PARAMETERS,
      ...settingParameters(),
    },
    Conditions: { ...topicCondition(), ...ACCOUNT_CONDITIONS, ...DOMAIN_CONDITIONS },
    Resources: merged([
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
    ]),
    Outputs: {
      ...Object.fromEntries(
        services
          .filter(({ routes }) => routes.length > 0)
          .map(({ service }) => [
            `${toPascalCase(service)}BaseUrl`,
            {
              Description: `Where the ${service} service answers`,
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
      ...(hasBoth(services) ? DOMAIN_OUTPUTS : {}),
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

/** A domain of one's own serves both APIs. */
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
