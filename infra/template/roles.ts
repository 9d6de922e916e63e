import { converterName } from "../../lib/platform/conversions.ts";
import { rendererName } from "../../lib/platform/renderings.ts";
import { byCodeUnits } from "../names.ts";
import type { ScannedConsumer } from "../scan.ts";
import type { Access, FunctionKind, TableGrant } from "./access.ts";
import {
  arnOf,
  installationArn,
  mergeResources,
  type Resource,
  type ResourceMap,
  ref,
  sub,
} from "./intrinsics.ts";
import { LOG_GROUP_ID } from "./logs.ts";
import { roleWithPolicies, type Statement } from "./policies.ts";
import { deadLetterQueues, mainQueue, type QueueName, scheduleRulesArn, sourcesOf } from "./queues.ts";
import { hasContentFunctions, type ServiceScan } from "./services.ts";
import { DOCUMENT_SECRETS_PARAMETER } from "./step-settings.ts";

/** Parameters of a nested stack that its roles use. */
export const BUS_PARAMETER = "EventBusName";
export const BLOBS_PARAMETER = "BlobsBucketName";
export const TOKEN_PARAMETER = "AccessTokenParameter";
export const SECRETS_PARAMETER = "SecretsPath";

const ROLE_IDS: Readonly<Record<FunctionKind, string>> = {
  http: "HttpRole",
  consumers: "ConsumersRole",
  schedules: "SchedulesRole",
  executors: "ExecutorsRole",
  workers: "WorkerRole",
  converter: "ConverterRole",
  renderer: "RendererRole",
};

export const roleId = (kind: FunctionKind): string => ROLE_IDS[kind];

/** Separates users' code from ours, and scheduled functions from the bus's. */
export function kindOf({ entry, consumer }: ScannedConsumer): FunctionKind {
  if (consumer.worker === true) return "workers";
  if (consumer.executor === true) return "executors";
  return entry.startsWith("functions/schedules/") ? "schedules" : "consumers";
}

const allow = (actions: readonly string[], resources: readonly unknown[]): Statement => ({
  Effect: "Allow",
  Action: actions,
  Resource: resources.length === 1 ? resources[0] : resources,
});

/** The roles of the kinds of functions that a service has. */
export function roleResources(
  { service, routes, consumers }: ServiceScan,
  access: Readonly<Record<FunctionKind, Access>>,
): ResourceMap {
  const byKind = Map.groupBy(consumers, kindOf);
  const kinds = (Object.keys(ROLE_IDS) as FunctionKind[]).filter((kind) => {
    if (kind === "converter" || kind === "renderer") return hasContentFunctions(service);
    return (kind === "http" ? routes : (byKind.get(kind) ?? [])).length > 0;
  });
  return mergeResources(
    kinds.map((kind) => {
      const sources = (byKind.get(kind) ?? []).flatMap(({ consumer }) => sourcesOf(consumer, consumers));
      return {
        ...roleWithPolicies(
          roleId(kind),
          TRUSTED_SERVICES[kind] ?? [LAMBDA],
          statements(access[kind], sources, consumers),
        ),
        ...(kind === "workers" ? { [WORKER_PROFILE_ID]: instanceProfile(roleId(kind)) } : {}),
      };
    }),
  );
}

/** An EC2 instance assumes a role through its profile. */
export const WORKER_PROFILE_ID = "WorkerInstanceProfile";

const instanceProfile = (role: string): Resource => ({
  Type: "AWS::IAM::InstanceProfile",
  Properties: { Roles: [ref(role)] },
});

const LAMBDA = "lambda.amazonaws.com";
/** A worker runs in an ECS task or on an EC2 instance. Its functions have the role too, because their mappings need one. */
const TRUSTED_SERVICES: Partial<Record<FunctionKind, readonly unknown[]>> = {
  workers: [LAMBDA, "ecs-tasks.amazonaws.com", sub("ec2.${AWS::URLSuffix}")],
};

function statements(
  access: Access,
  sources: readonly string[],
  consumers: readonly ScannedConsumer[],
): Statement[] {
  const mains = consumers.flatMap(({ consumer }) => mainQueue(consumer) ?? []);
  const sent = mains.filter(({ name }) =>
    access.sends === "all" ? true : access.sends?.includes(name.replace(/\.fifo$/, "")),
  );
  const watched = [...mains, ...consumers.flatMap(({ consumer }) => deadLetterQueues(consumer))];
  return [
    allow(["logs:CreateLogStream", "logs:PutLogEvents"], [arnOf(LOG_GROUP_ID)]),
    ...tableStatements(access.tables ?? {}),
    ...allowIfAny(
      [
        "sqs:ReceiveMessage",
        "sqs:DeleteMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:GetQueueAttributes",
        "sqs:GetQueueUrl",
      ],
      sources.map(arnOf),
    ),
    ...allowIfAny(
      ["sqs:SendMessage", "sqs:GetQueueUrl"],
      [
        ...sent.map(queueArn),
        ...foreignQueues(access, consumers).map((name) => installationArn("sqs", `*-${name}`)),
      ],
    ),
    ...(access.watchesQueues === true
      ? allowIfAny(["sqs:GetQueueAttributes", "sqs:GetQueueUrl"], watched.map(queueArn))
      : []),
    ...(access.publishes === true
      ? [
          allow(
            ["events:PutEvents"],
            [
              sub(
                `arn:\${AWS::Partition}:events:\${AWS::Region}:\${AWS::AccountId}:event-bus/\${${BUS_PARAMETER}}`,
              ),
            ],
          ),
        ]
      : []),
    ...blobStatements(access),
    ...allowIfAny(
      ["lambda:InvokeFunction"],
      [
        ...(access.converts === true ? [converterName("*")] : []),
        ...(access.renders === true ? [rendererName("*")] : []),
      ].map((name) => installationArn("lambda", `function:${name}`)),
    ),
    ...ruleStatements(access.scheduleRules),
    ...(access.readsToken === true
      ? [allow(["ssm:GetParameter"], [storedParameter(`\${${TOKEN_PARAMETER}}`)])]
      : []),
    ...(access.readsModelKeys === true
      ? [allow(["ssm:GetParameter"], [storedParameter(`\${${SECRETS_PARAMETER}}/LLM_*`)])]
      : []),
    ...(access.readsMailPassword === true
      ? [
          allow(
            ["ssm:GetParameter"],
            [storedParameter(`\${${SECRETS_PARAMETER}}/DJANGO_EMAIL_HOST_PASSWORD`)],
          ),
        ]
      : []),
    ...(access.readsDocumentSecrets === true
      ? [allow(["ssm:GetParameter"], [storedParameter(`\${${DOCUMENT_SECRETS_PARAMETER}}/*`)])]
      : []),
    ...(access.readsSecrets === true
      ? [allow(["ssm:GetParameter"], [storedParameter(`\${${SECRETS_PARAMETER}}/*`)])]
      : []),
  ];
}

/**
 * The ARN of a parameter in the parameter store, whose name begins with a slash. Parameters encrypted by the AWS
 * managed key (`aws/ssm`) need no right to decrypt: whoever may read the parameter may use the key.
 */
const storedParameter = (name: string) =>
  sub(`arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter${name}`);

const queueArn = ({ logicalId }: QueueName) => arnOf(logicalId);

/** Queues of another service's stack that are sent to. */
export function foreignQueues({ sends }: Access, consumers: readonly ScannedConsumer[]): string[] {
  const own = new Set(consumers.map(({ consumer }) => consumer.name));
  return sends === undefined || sends === "all" ? [] : sends.filter((name) => !own.has(name));
}

const allowIfAny = (actions: readonly string[], resources: readonly unknown[]): Statement[] =>
  resources.length === 0 ? [] : [allow(actions, resources)];

/** One statement for the tables with the same rights. */
function tableStatements(tables: NonNullable<Access["tables"]>): Statement[] {
  const byActions = new Map<string, unknown[]>();
  const grant = (grants: readonly TableGrant[], resource: string): void => {
    const actions = grants.map((name) => `dynamodb:${name.split(":")[0]}`);
    const key = [...new Set(actions)].sort(byCodeUnits).join(" ");
    if (key === "") return;
    byActions.set(key, [...(byActions.get(key) ?? []), installationArn("dynamodb", resource)]);
  };
  for (const [table, grants] of Object.entries(tables)) {
    grant(
      grants.filter((name) => !name.includes(":")),
      `table/*-${table}`,
    );
    for (const name of grants.filter((one) => one.includes(":")))
      grant([name], `table/*-${table}/index/${name.split(":")[1]}`);
  }
  return [...byActions].map(([actions, resources]) => allow(actions.split(" "), resources));
}

/** Without the right to list, S3 returns 403 for a blob that does not exist. */
function blobStatements({ blobs }: Access): Statement[] {
  if (blobs === undefined) return [];
  const bucket = `arn:\${AWS::Partition}:s3:::\${${BLOBS_PARAMETER}}`;
  const blobKeys = (prefixes: readonly string[]) => prefixes.map((prefix) => sub(`${bucket}/${prefix}/*`));
  return [
    ...allowIfAny(["s3:GetObject"], blobKeys(blobs.get)),
    ...allowIfAny(["s3:PutObject"], blobKeys(blobs.put)),
    ...allowIfAny(["s3:DeleteObject"], blobKeys(blobs.remove ?? [])),
    ...(blobs.maybeMissing === true ? [allow(["s3:ListBucket"], [sub(bucket)])] : []),
  ];
}

/** Rules can only be listed all together, whatever their prefix. */
function ruleStatements(rules: Access["scheduleRules"]): Statement[] {
  if (rules === undefined) return [];
  const actions = ["events:PutRule", "events:PutTargets"];
  const further = rules === "reconcile" ? ["events:RemoveTargets", "events:DeleteRule"] : [];
  return [allow([...actions, ...further], [scheduleRulesArn()]), allow(["events:ListRules"], ["*"])];
}
