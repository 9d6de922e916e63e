import { documentsService } from "../../lib/documents/service.ts";
import type { Service } from "../../lib/http/service.ts";
import { workflowsService } from "../../lib/workflows/service.ts";
import { arnOf, installationName, type ResourceMap, ref, STACK_NAME, sub } from "./intrinsics.ts";
import { RETENTION_PARAMETER } from "./logs.ts";
import {
  ACCESS_LOGS_CONDITION,
  BURST_PARAMETER,
  RATE_PARAMETER,
  WEB_ACL_CONDITION,
  WEB_ACL_PARAMETER,
} from "./protection.ts";
import type { StackService } from "./services.ts";

export const API_ID = "Api";
export const STAGE = "live";

const ACCESS_LOG_ID = "AccessLogGroup";
/** Fields of each request; without the query string, which may contain a key. */
const ACCESS_LOG_FIELDS = {
  requestId: "$context.requestId",
  ip: "$context.identity.sourceIp",
  userAgent: "$context.identity.userAgent",
  requestTime: "$context.requestTime",
  method: "$context.httpMethod",
  path: "$context.path",
  route: "$context.resourcePath",
  status: "$context.status",
  responseBytes: "$context.responseLength",
  latencyMs: "$context.responseLatency",
  integrationLatencyMs: "$context.integrationLatency",
  integrationError: "$context.integrationErrorMessage",
};

/** Binary content types in SAM's spelling: a function gets their bodies as base64, others as text. */
const BINARY_TYPES = ["application~1zip", "application~1octet-stream", "multipart~1form-data"];

interface GatewayResponse {
  readonly status: number;
  /** JSON text of the message; API Gateway's own if undefined. */
  readonly message?: string;
}

/**
 * Responses of API Gateway itself, with the statuses of the contract: an unknown path is 404 instead of
 * 403 `Missing Authentication Token`, an unsupported content type is 400, any failed integration 500.
 * Seed: workflow 7.
 */
const GATEWAY_RESPONSES: Readonly<Record<string, GatewayResponse>> = {
  BAD_REQUEST_BODY: { status: 400 },
  BAD_REQUEST_PARAMETERS: { status: 400 },
  MISSING_AUTHENTICATION_TOKEN: { status: 404, message: "Not found" },
  QUOTA_EXCEEDED: { status: 429, message: "Too many requests, try again later" },
  REQUEST_TOO_LARGE: { status: 413, message: "The request is too large" },
  RESOURCE_NOT_FOUND: { status: 404, message: "Not found" },
  THROTTLED: { status: 429, message: "Too many requests, try again shortly" },
  UNSUPPORTED_MEDIA_TYPE: { status: 400, message: "The content type is not supported" },
  DEFAULT_5XX: { status: 500, message: "Internal server error" },
};

const SERVICES: Readonly<Record<StackService, Service>> = {
  workflows: workflowsService,
  documents: documentsService,
};

/** The error body of a service, with the JSON text of a message. */
function errorBody(service: StackService, message: string): string {
  const body = JSON.stringify(SERVICES[service].errorFormat.errorBody({ message: "MESSAGE" }));
  return body.replace('"MESSAGE"', () => message);
}

function toGatewayResponse(
  service: StackService,
  response: Partial<GatewayResponse>,
): Record<string, unknown> {
  const message =
    response.message === undefined ? "$context.error.messageString" : JSON.stringify(response.message);
  const headers: Record<string, string> = {
    "cache-control": "'no-store'",
    "x-request-id": "context.requestId",
  };
  if (response.status === 429) headers["retry-after"] = "'1'";
  return {
    ...(response.status === undefined ? {} : { StatusCode: response.status }),
    ResponseParameters: { Headers: headers },
    ResponseTemplates: { "application/json": errorBody(service, message) },
  };
}

/** Suffix of the name of a service's API in the main template, after the stack's name. */
export const apiName = (service: StackService): string => service;

/** The REST API of a service. API Gateway serves `/x/` wherever `/x` is defined, so each path is written once. */
export function gatewayResources(service: StackService): ResourceMap {
  const responses: Record<string, unknown> = { DEFAULT_4XX: toGatewayResponse(service, {}) };
  for (const [kind, response] of Object.entries(GATEWAY_RESPONSES))
    responses[kind] = toGatewayResponse(service, response);
  return {
    [API_ID]: {
      Type: "AWS::Serverless::Api",
      Properties: {
        Name: installationName(apiName(service)),
        StageName: STAGE,
        OpenApiVersion: "3.0.3",
        EndpointConfiguration: { Type: "REGIONAL" },
        BinaryMediaTypes: BINARY_TYPES,
        MethodSettings: [
          {
            HttpMethod: "*",
            ResourcePath: "/*",
            ThrottlingRateLimit: ref(RATE_PARAMETER),
            ThrottlingBurstLimit: ref(BURST_PARAMETER),
          },
        ],
        AccessLogSetting: {
          "Fn::If": [
            ACCESS_LOGS_CONDITION,
            { DestinationArn: arnOf(ACCESS_LOG_ID), Format: JSON.stringify(ACCESS_LOG_FIELDS) },
            ref("AWS::NoValue"),
          ],
        },
        GatewayResponses: responses,
      },
    },
    [ACCESS_LOG_ID]: {
      Type: "AWS::Logs::LogGroup",
      Condition: ACCESS_LOGS_CONDITION,
      Properties: {
        LogGroupName: sub(`/weft/\${${STACK_NAME}}/${service}-access`),
        RetentionInDays: ref(RETENTION_PARAMETER),
      },
    },
    WebAclAssociation: {
      Type: "AWS::WAFv2::WebACLAssociation",
      Condition: WEB_ACL_CONDITION,
      Properties: {
        ResourceArn: sub(
          `arn:\${AWS::Partition}:apigateway:\${AWS::Region}::/restapis/\${${API_ID}}/stages/\${${API_ID}.Stage}`,
        ),
        WebACLArn: ref(WEB_ACL_PARAMETER),
      },
    },
  };
}
