import { TOPIC_PARAMETER, topicResources } from "./alarms.ts";
import { balancerResources, LOAD_BALANCER_ID } from "./collaboration-balancer.ts";
import { taskResources } from "./collaboration-tasks.ts";
import { mergeResources, outputOf, type ResourceMap, ref, STACK_NAME } from "./intrinsics.ts";
import { RETENTION_PARAMETER } from "./logs.ts";
import type { SamTemplate } from "./sam-template.ts";
import { stackId } from "./services.ts";
import { DOCUMENT_SECRETS_PARAMETER } from "./step-settings.ts";

/** The nested stack of a separate collaboration server. Choice: infra/decisions/0116. */
export const COLLABORATION_STACK = "CollaborationStack";
export const COLLABORATION_FILE = "infra/stacks/collaboration.yaml";
const CONDITION = "HasCollaboration";
const API_PARAMETER = "DocumentsUrl";

/** By name: the parameter of the main template, whose default deploys nothing, and its type in the nested one. */
const PARAMETERS = {
  CollaborationImage: {
    type: "String",
    description:
      "Image of the collaboration server, such as that of infra/worker in a registry of the account; empty for none",
    pattern: "^$|^[\\w.:/@-]{1,400}$",
  },
  CollaborationVpcId: {
    type: "AWS::EC2::VPC::Id",
    description: "VPC of the collaboration server",
    pattern: "^$|^vpc-[0-9a-f]+$",
  },
  CollaborationBalancerSubnets: {
    type: "List<AWS::EC2::Subnet::Id>",
    description: "Subnets of its load balancer in two or more availability zones, separated by commas",
    pattern: "^$|^subnet-[0-9a-f]+(?:,subnet-[0-9a-f]+)+$",
  },
  CollaborationTaskSubnets: {
    type: "List<AWS::EC2::Subnet::Id>",
    description: "Subnets of its tasks, from which they reach the internet, separated by commas",
    pattern: "^$|^subnet-[0-9a-f]+(?:,subnet-[0-9a-f]+)*$",
  },
  CollaborationCertificateArn: {
    type: "String",
    description:
      "ARN of the certificate of its domain name in AWS Certificate Manager; empty for HTTP without encryption",
    pattern: "^$|^arn:[a-z-]+:acm:.+:certificate/.+$",
  },
  CollaborationOrigins: {
    type: "String",
    description:
      "Origins of pages that may connect to it, separated by commas, such as https://docs.example.org",
    pattern: "^[^\\s]{0,2000}$",
  },
  CollaborationIngressCidr: {
    type: "String",
    description: "IPv4 addresses that may connect to its load balancer",
    default: "0.0.0.0/0",
    pattern: "^\\d{1,3}(?:\\.\\d{1,3}){3}/\\d{1,2}$",
  },
  CollaborationTasks: {
    type: "Number",
    description: "Number of its tasks; one more than the load needs, so that one may fail",
    default: 2,
    range: [1, 50],
  },
  CollaborationCpu: {
    type: "Number",
    description: "CPU units of a task",
    default: 512,
    values: [256, 512, 1024, 2048, 4096],
  },
  CollaborationMemory: {
    type: "Number",
    description: "Memory of a task in MiB, as Fargate allows for its CPU units",
    default: 1024,
    range: [512, 30_720],
  },
  CollaborationArchitecture: {
    type: "String",
    description: "Architecture of the image",
    default: "X86_64",
    values: ["X86_64", "ARM64"],
  },
  CollaborationPublicIp: {
    type: "String",
    description: "Whether tasks have public addresses: ENABLED in subnets without NAT",
    default: "DISABLED",
    values: ["ENABLED", "DISABLED"],
  },
} as const satisfies Record<string, CollaborationParameter>;

interface CollaborationParameter {
  /** In the nested template. The main template cannot leave the types of EC2 empty. */
  readonly type: string;
  readonly description: string;
  readonly default?: string | number;
  readonly pattern?: string;
  readonly range?: readonly [min: number, max: number];
  readonly values?: readonly (string | number)[];
}

const entries: readonly (readonly [string, CollaborationParameter])[] = Object.entries(PARAMETERS);

/** For the main template. */
export const COLLABORATION_PARAMETERS = Object.fromEntries(
  entries.map(([name, { type, description, default: value = "", pattern, range, values }]) => [
    name,
    {
      Type: type === "Number" ? "Number" : "String",
      Description: description,
      Default: value,
      ...(pattern === undefined ? {} : { AllowedPattern: pattern }),
      ...(range === undefined ? {} : { MinValue: range[0], MaxValue: range[1] }),
      ...(values === undefined ? {} : { AllowedValues: values }),
    },
  ]),
);

export const COLLABORATION_CONDITIONS = {
  [CONDITION]: { "Fn::Not": [{ "Fn::Equals": [ref("CollaborationImage"), ""] }] },
};

/** The nested stack, in the main template. */
export const collaborationStack = (): ResourceMap => ({
  [COLLABORATION_STACK]: {
    Type: "AWS::Serverless::Application",
    Condition: CONDITION,
    Properties: {
      Location: COLLABORATION_FILE,
      Parameters: {
        [STACK_NAME]: ref("AWS::StackName"),
        [API_PARAMETER]: outputOf(stackId("documents"), "ApiUrl"),
        [DOCUMENT_SECRETS_PARAMETER]: ref(DOCUMENT_SECRETS_PARAMETER),
        [RETENTION_PARAMETER]: ref(RETENTION_PARAMETER),
        [TOPIC_PARAMETER]: ref(TOPIC_PARAMETER),
        ...Object.fromEntries(entries.map(([name]) => [name, ref(name)])),
      },
    },
  },
});

export const COLLABORATION_OUTPUTS = {
  CollaborationTarget: {
    Condition: CONDITION,
    Description: "Target of the DNS record of the collaboration server",
    Value: outputOf(COLLABORATION_STACK, "DnsName"),
  },
  CollaborationHostedZoneId: {
    Condition: CONDITION,
    Description: "Hosted zone of that target, for an alias record of Route 53",
    Value: outputOf(COLLABORATION_STACK, "HostedZoneId"),
  },
};

/** The nested template: a load balancer, and tasks on Fargate that call the document service. */
export function toCollaborationTemplate(): SamTemplate {
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Transform: "AWS::Serverless-2016-10-31",
    Description: "Weft: a separate collaboration server",
    Parameters: {
      [STACK_NAME]: { Type: "String", Description: "Name of the main stack, the prefix of all names" },
      [API_PARAMETER]: { Type: "String", Description: "URL of the document service" },
      [DOCUMENT_SECRETS_PARAMETER]: {
        Type: "String",
        Description: "Path in the parameter store of the document service's secrets",
      },
      [RETENTION_PARAMETER]: { Type: "Number", Description: "Retention period of logs, days" },
      [TOPIC_PARAMETER]: { Type: "String", Description: "ARN of the topic that alarms notify" },
      ...Object.fromEntries(
        entries.map(([name, { type, description }]) => [name, { Type: type, Description: description }]),
      ),
    },
    Conditions: {
      ...topicResources(),
      HasCertificate: { "Fn::Not": [{ "Fn::Equals": [ref("CollaborationCertificateArn"), ""] }] },
    },
    Resources: mergeResources([balancerResources(), taskResources(API_PARAMETER)]),
    Outputs: {
      DnsName: { Description: "Name of the load balancer", Value: attribute("DNSName") },
      HostedZoneId: { Description: "Its hosted zone", Value: attribute("CanonicalHostedZoneID") },
    },
  };
}

const attribute = (name: string) => ({ "Fn::GetAtt": [LOAD_BALANCER_ID, name] });
