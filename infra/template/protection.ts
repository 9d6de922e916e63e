import { type Resource, ref, sub } from "./intrinsics.ts";

/** Parameters that protect a deployment from floods; the main template passes them to those of the services. */
export const RATE_PARAMETER = "ApiRateLimit";
export const BURST_PARAMETER = "ApiBurstLimit";
export const WEB_ACL_PARAMETER = "WebAclArn";
export const ACCESS_LOGS_PARAMETER = "ApiAccessLogs";
export const RESERVE_PARAMETER = "ReserveConcurrency";

/** Value of `ApiAccessLogs` that also gives API Gateway a role for logs, a setting of the account and region. */
const WITH_ACCOUNT_ROLE = "with-account-role";

/** For the main template; a new account accepts the defaults. */
export const PROTECTION_PARAMETERS = {
  [RATE_PARAMETER]: {
    Type: "Number",
    Description: "Requests per second of each API, for all clients together; further requests get 429",
    Default: 200,
    MinValue: 1,
    MaxValue: 10_000,
  },
  [BURST_PARAMETER]: {
    Type: "Number",
    Description: "Burst of requests of each API above its rate",
    Default: 400,
    MinValue: 1,
    MaxValue: 5_000,
  },
  [WEB_ACL_PARAMETER]: {
    Type: "String",
    Description:
      "ARN of a regional web ACL of AWS WAF for both APIs, such as one that limits requests by IP address",
    Default: "",
    AllowedPattern: "^$|^arn:[a-z-]+:wafv2:.+:regional/webacl/.+$",
  },
  [ACCESS_LOGS_PARAMETER]: {
    Type: "String",
    Description:
      "Whether APIs log each request; with-account-role also sets the role that API Gateway writes logs with, for all APIs of the account in the region",
    Default: "off",
    AllowedValues: ["off", "on", WITH_ACCOUNT_ROLE],
  },
  [RESERVE_PARAMETER]: {
    Type: "String",
    Description:
      "Whether the consumers of queues reserve the concurrency that they may use: requests and steps cannot take it from them. Needs a quota of the account that leaves 100 unreserved",
    Default: "false",
    AllowedValues: ["true", "false"],
  },
} as const;

/** For a service's template. */
export const SERVICE_PROTECTION_PARAMETERS = Object.fromEntries(
  Object.entries(PROTECTION_PARAMETERS).map(([name, { Type, Description }]) => [name, { Type, Description }]),
);

export const WEB_ACL_CONDITION = "HasWebAcl";
export const ACCESS_LOGS_CONDITION = "HasAccessLogs";
const RESERVE_CONDITION = "ReservesConcurrency";
const ACCOUNT_ROLE_CONDITION = "GivesAccountRole";

const isNot = (parameter: string, value: string) => ({
  "Fn::Not": [{ "Fn::Equals": [ref(parameter), value] }],
});

/** For a service's template. */
export const PROTECTION_CONDITIONS = {
  [WEB_ACL_CONDITION]: isNot(WEB_ACL_PARAMETER, ""),
  [ACCESS_LOGS_CONDITION]: isNot(ACCESS_LOGS_PARAMETER, "off"),
  [RESERVE_CONDITION]: { "Fn::Equals": [ref(RESERVE_PARAMETER), "true"] },
};

/** `ReservedConcurrentExecutions` of a consumer with this concurrency. */
export const reservedConcurrency = (atOnce: number) => ({
  "Fn::If": [RESERVE_CONDITION, atOnce, ref("AWS::NoValue")],
});

/** For the main template. */
export const ACCOUNT_CONDITIONS = {
  [ACCOUNT_ROLE_CONDITION]: { "Fn::Equals": [ref(ACCESS_LOGS_PARAMETER), WITH_ACCOUNT_ROLE] },
};
const ACCOUNT_ID = "ApiGatewayAccount";
const ACCOUNT_ROLE_ID = "ApiGatewayLogsRole";

/** What the main template passes to those of the services. A stage with access logs must come after the account's role. */
export function protectionArguments(): Record<string, unknown> {
  return {
    ...Object.fromEntries(Object.keys(PROTECTION_PARAMETERS).map((name) => [name, ref(name)])),
    [ACCESS_LOGS_PARAMETER]: {
      "Fn::If": [ACCOUNT_ROLE_CONDITION, ref(ACCOUNT_ID), ref(ACCESS_LOGS_PARAMETER)],
    },
  };
}

/** API Gateway rejects a stage with access logs without it. Other APIs of the account use it too, so it is retained. */
export function accountResources(): Readonly<Record<string, Resource>> {
  return {
    [ACCOUNT_ROLE_ID]: {
      Type: "AWS::IAM::Role",
      Condition: ACCOUNT_ROLE_CONDITION,
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        AssumeRolePolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            { Effect: "Allow", Principal: { Service: "apigateway.amazonaws.com" }, Action: "sts:AssumeRole" },
          ],
        },
        ManagedPolicyArns: [
          sub("arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"),
        ],
      },
    },
    [ACCOUNT_ID]: {
      Type: "AWS::ApiGateway::Account",
      Condition: ACCOUNT_ROLE_CONDITION,
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: { CloudWatchRoleArn: { "Fn::GetAtt": [ACCOUNT_ROLE_ID, "Arn"] } },
    },
  };
}
