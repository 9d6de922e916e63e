import { type Resource, ref, sub } from "./intrinsics.ts";

/** Parameters by which a deployment protects itself from floods; the main template hands them to the services'. */
export const RATE_PARAMETER = "ApiRateLimit";
export const BURST_PARAMETER = "ApiBurstLimit";
export const WEB_ACL_PARAMETER = "WebAclArn";
export const ACCESS_LOGS_PARAMETER = "ApiAccessLogs";
export const RESERVE_PARAMETER = "ReserveConcurrency";

/** Value of `ApiAccessLogs` that also gives API Gateway a role for logs, a setting of the account and region. */
const WITH_ACCOUNT_ROLE = "with-account-role";

/** For the main template; the defaults are what a new account accepts. */
export const PROTECTION_PARAMETERS = {
  [RATE_PARAMETER]: {
    Type: "Number",
    Description: "Requests per second that each API takes, all clients together; above it they get 429",
    Default: 200,
    MinValue: 1,
    MaxValue: 10_000,
  },
  [BURST_PARAMETER]: {
    Type: "Number",
    Description: "Requests that each API takes at once, above its rate",
    Default: 400,
    MinValue: 1,
    MaxValue: 5_000,
  },
  [WEB_ACL_PARAMETER]: {
    Type: "String",
    Description:
      "ARN of a regional web ACL of AWS WAF for both APIs, such as one that limits requests by address",
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

/** As a service's template takes them. */
export const HANDED_PROTECTION = Object.fromEntries(
  Object.entries(PROTECTION_PARAMETERS).map(([name, { Type, Description }]) => [name, { Type, Description }]),
);

export const WEB_ACL_CONDITION = "HasWebAcl";
export const ACCESS_LOGS_CONDITION = "HasAccessLogs";
const RESERVE_CONDITION = "ReservesConcurrency";
const ACCOUNT_ROLE_CONDITION = "GivesAccountRole";

const isOther = (parameter: string, value: string) => ({
  "Fn::Not": [{ "Fn::Equals": [ref(parameter), value] }],
});

/** Of a service's template. */
export const PROTECTION_CONDITIONS = {
  [WEB_ACL_CONDITION]: isOther(WEB_ACL_PARAMETER, ""),
  [ACCESS_LOGS_CONDITION]: isOther(ACCESS_LOGS_PARAMETER, "off"),
  [RESERVE_CONDITION]: { "Fn::Equals": [ref(RESERVE_PARAMETER), "true"] },
};

/** `ReservedConcurrentExecutions` of a consumer that may run so often at once. */
export const reservedConcurrency = (atOnce: number) => ({
  "Fn::If": [RESERVE_CONDITION, atOnce, ref("AWS::NoValue")],
});

/** Of the main template. */
export const ACCOUNT_CONDITIONS = {
  [ACCOUNT_ROLE_CONDITION]: { "Fn::Equals": [ref(ACCESS_LOGS_PARAMETER), WITH_ACCOUNT_ROLE] },
};
const ACCOUNT_ID = "ApiGatewayAccount";
const ACCOUNT_ROLE_ID = "ApiGatewayLogsRole";

/** What the main template hands to the services'. A stage with access logs needs the account's role: it comes after it. */
export function protectionArguments(): Record<string, unknown> {
  return {
    ...Object.fromEntries(Object.keys(PROTECTION_PARAMETERS).map((name) => [name, ref(name)])),
    [ACCESS_LOGS_PARAMETER]: {
      "Fn::If": [ACCOUNT_ROLE_CONDITION, ref(ACCOUNT_ID), ref(ACCESS_LOGS_PARAMETER)],
    },
  };
}

/** Without it API Gateway refuses a stage with access logs. Other APIs of the account use it too, so it stays. */
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
