import { STAGE } from "./gateway.ts";
import { outputOf, type ResourceMap, ref, sub } from "./intrinsics.ts";
import { type StackService, stackId } from "./services.ts";

const DOMAIN_PARAMETER = "DomainName";
const CERTIFICATE_PARAMETER = "DomainCertificateArn";
const DOMAIN_CONDITION = "HasDomain";
const DOMAIN_ID = "ApiDomain";

export const DOMAIN_PARAMETERS = {
  [DOMAIN_PARAMETER]: {
    Type: "String",
    Description: "Custom domain name that serves both APIs; empty for none",
    Default: "",
    MaxLength: 253,
    AllowedPattern: "^$|^(?:[a-z0-9-]+\\.)+[a-z]+$",
    ConstraintDescription: "must be a domain name in lower case, such as weft.example.org",
  },
  [CERTIFICATE_PARAMETER]: {
    Type: "String",
    Description: "ARN of its certificate in AWS Certificate Manager, in the region of the stack",
    Default: "",
    AllowedPattern: "^$|^arn:[a-z-]+:acm:.+:certificate/.+$",
  },
};

export const DOMAIN_CONDITIONS = {
  [DOMAIN_CONDITION]: { "Fn::Not": [{ "Fn::Equals": [ref(DOMAIN_PARAMETER), ""] }] },
};

/** First segments of the paths of the documents; all others belong to the workflows'. */
export const DOCUMENT_PATHS: readonly string[] = ["api", "external_api", "login", "media"];

/**
 * One origin for both APIs. Routing rules keep the whole path, while base path mappings would strip its first segment.
 */
export function domainResources(): ResourceMap {
  const routingRule = (service: StackService, priority: number, conditions: readonly unknown[]) => ({
    Type: "AWS::ApiGatewayV2::RoutingRule",
    Condition: DOMAIN_CONDITION,
    Properties: {
      DomainNameArn: sub(`arn:\${AWS::Partition}:apigateway:\${AWS::Region}::/domainnames/\${${DOMAIN_ID}}`),
      Priority: priority,
      Conditions: conditions,
      Actions: [
        { InvokeApi: { ApiId: outputOf(stackId(service), "ApiId"), Stage: STAGE, StripBasePath: false } },
      ],
    },
  });
  return {
    [DOMAIN_ID]: {
      Type: "AWS::ApiGateway::DomainName",
      Condition: DOMAIN_CONDITION,
      Properties: {
        DomainName: ref(DOMAIN_PARAMETER),
        RegionalCertificateArn: ref(CERTIFICATE_PARAMETER),
        EndpointConfiguration: { Types: ["REGIONAL"] },
        SecurityPolicy: "TLS_1_2",
        RoutingMode: "ROUTING_RULE_ONLY",
      },
    },
    DocumentsRoute: routingRule("documents", 1, [{ MatchBasePaths: { AnyOf: DOCUMENT_PATHS } }]),
    WorkflowsRoute: routingRule("workflows", 2, []),
  };
}

/** Values for the DNS record of the domain name. */
export const DOMAIN_OUTPUTS = {
  DomainTarget: {
    Condition: DOMAIN_CONDITION,
    Description: "Target of the domain name's DNS record",
    Value: { "Fn::GetAtt": [DOMAIN_ID, "RegionalDomainName"] },
  },
  DomainHostedZoneId: {
    Condition: DOMAIN_CONDITION,
    Description: "Hosted zone of that target, for an alias record of Route 53",
    Value: { "Fn::GetAtt": [DOMAIN_ID, "RegionalHostedZoneId"] },
  },
};
