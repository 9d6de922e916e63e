import { fullPath } from "../../lib/http/route.ts";
import type { ScannedRoute } from "../scan.ts";
import { DOCUMENT_PATHS } from "./domain.ts";
import { STAGE } from "./gateway.ts";
import { outputOf, type Resource, type ResourceMap, ref, stackName, sub } from "./intrinsics.ts";
import { type StackService, stackId } from "./services.ts";

const WEB_PARAMETER = "WebInterface";
const WEB_DOMAIN_PARAMETER = "WebDomainName";
const WEB_CERTIFICATE_PARAMETER = "WebCertificateArn";
const WEB_CONDITION = "HasWebInterface";
const WEB_DOMAIN_CONDITION = "HasWebDomain";

const BUCKET_ID = "WebBucket";
const DISTRIBUTION_ID = "WebDistribution";
const ACCESS_ID = "WebOriginAccess";
const WORKER_HEADERS_ID = "WebWorkerHeaders";
const PAGE_FUNCTION_ID = "WebPagePath";

/** Path prefix of the built files, whose names contain a hash of their content. */
const ASSETS = "assets";
const PAGE_PATH = "/automation/web-page";

/** Policies that CloudFront provides. */
const CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6";
const CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad";
/** API Gateway accepts no other host than its own. */
const ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac";
const SECURITY_HEADERS = "67f7725c-6f97-4210-82d7-5512b31e9d03";

/** Seconds that CloudFront waits for the next bytes of a response: streams send something more often. */
const READ_TIMEOUT_SECONDS = 60;

export const WEB_PARAMETERS = {
  [WEB_PARAMETER]: {
    Type: "String",
    Description: "Whether CloudFront serves the web interface and both APIs at one address",
    Default: "false",
    AllowedValues: ["true", "false"],
  },
  [WEB_DOMAIN_PARAMETER]: {
    Type: "String",
    Description: "Custom domain name of the web interface; empty for that of CloudFront",
    Default: "",
    MaxLength: 253,
    AllowedPattern: "^$|^(?:[a-z0-9-]+\\.)+[a-z]+$",
  },
  [WEB_CERTIFICATE_PARAMETER]: {
    Type: "String",
    Description: "ARN of its certificate in AWS Certificate Manager, in us-east-1",
    Default: "",
    AllowedPattern: "^$|^arn:[a-z-]+:acm:us-east-1:.+:certificate/.+$",
  },
};

export const WEB_CONDITIONS = {
  [WEB_CONDITION]: { "Fn::Equals": [ref(WEB_PARAMETER), "true"] },
  [WEB_DOMAIN_CONDITION]: { "Fn::Not": [{ "Fn::Equals": [ref(WEB_DOMAIN_PARAMETER), ""] }] },
};

const ifDomain = (value: unknown, otherwise: unknown = ref("AWS::NoValue")) => ({
  "Fn::If": [WEB_DOMAIN_CONDITION, value, otherwise],
});

const attributeOf = (id: string, attribute: string) => ({ "Fn::GetAtt": [id, attribute] });

/** The bucket of the web interface's files, which only the distribution can read, and the distribution. */
export function webResources(routes: readonly ScannedRoute[]): ResourceMap {
  const resources: ResourceMap = {
    [BUCKET_ID]: {
      Type: "AWS::S3::Bucket",
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }],
        },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
      // Its content can be built and uploaded again, but CloudFormation deletes only empty buckets.
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
    },
    [ACCESS_ID]: {
      Type: "AWS::CloudFront::OriginAccessControl",
      Properties: {
        OriginAccessControlConfig: {
          Name: stackName("web"),
          OriginAccessControlOriginType: "s3",
          SigningBehavior: "always",
          SigningProtocol: "sigv4",
        },
      },
    },
    WebBucketPolicy: {
      Type: "AWS::S3::BucketPolicy",
      Properties: {
        Bucket: ref(BUCKET_ID),
        PolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: "cloudfront.amazonaws.com" },
              Action: "s3:GetObject",
              Resource: sub(`\${${BUCKET_ID}.Arn}/${ASSETS}/*`),
              Condition: {
                StringEquals: {
                  "AWS:SourceArn": sub(
                    `arn:\${AWS::Partition}:cloudfront::\${AWS::AccountId}:distribution/\${${DISTRIBUTION_ID}}`,
                  ),
                },
              },
            },
          ],
        },
      },
    },
    [PAGE_FUNCTION_ID]: {
      Type: "AWS::CloudFront::Function",
      Properties: {
        Name: stackName("web-page-path"),
        AutoPublish: true,
        FunctionConfig: {
          Comment: "Every address of the web interface is one page",
          Runtime: "cloudfront-js-2.0",
        },
        FunctionCode: `function handler(event) { event.request.uri = "${PAGE_PATH}"; event.request.querystring = {}; return event.request; }`,
      },
    },
    // The script that serves the page without a connection is below the files, and serves all paths.
    [WORKER_HEADERS_ID]: {
      Type: "AWS::CloudFront::ResponseHeadersPolicy",
      Properties: {
        ResponseHeadersPolicyConfig: {
          Name: stackName("web-worker"),
          CustomHeadersConfig: {
            Items: [{ Header: "service-worker-allowed", Value: "/", Override: true }],
          },
          SecurityHeadersConfig: { ContentTypeOptions: { Override: true } },
        },
      },
    },
    [DISTRIBUTION_ID]: distribution(routes),
  };
  return Object.fromEntries(
    Object.entries(resources).map(([id, resource]) => [id, { ...resource, Condition: WEB_CONDITION }]),
  );
}

function distribution(routes: readonly ScannedRoute[]): Resource {
  return {
    Type: "AWS::CloudFront::Distribution",
    // The empty default of the certificate's parameter, which the condition excludes.
    Metadata: { "cfn-lint": { config: { ignore_checks: ["W1030"] } } },
    Properties: {
      DistributionConfig: {
        Enabled: true,
        Comment: stackName("web"),
        HttpVersion: "http2and3",
        IPV6Enabled: true,
        Aliases: ifDomain([ref(WEB_DOMAIN_PARAMETER)]),
        ViewerCertificate: ifDomain(
          {
            AcmCertificateArn: ref(WEB_CERTIFICATE_PARAMETER),
            MinimumProtocolVersion: "TLSv1.2_2021",
            SslSupportMethod: "sni-only",
          },
          { CloudFrontDefaultCertificate: true },
        ),
        Origins: [
          {
            Id: ASSETS,
            DomainName: attributeOf(BUCKET_ID, "RegionalDomainName"),
            OriginAccessControlId: attributeOf(ACCESS_ID, "Id"),
            S3OriginConfig: { OriginAccessIdentity: "" },
          },
          apiOrigin("workflows"),
          apiOrigin("documents"),
        ],
        DefaultCacheBehavior: {
          ...apiBehavior("workflows"),
          AllowedMethods: ["GET", "HEAD"],
          FunctionAssociations: [
            { EventType: "viewer-request", FunctionARN: attributeOf(PAGE_FUNCTION_ID, "FunctionARN") },
          ],
        },
        CacheBehaviors: [
          filesBehavior(`/${ASSETS}/service-worker-*`, ref(WORKER_HEADERS_ID)),
          filesBehavior(`/${ASSETS}/*`, SECURITY_HEADERS),
          ...DOCUMENT_PATHS.flatMap((segment) => behaviorsOf("documents", segment)),
          ...workflowPaths(routes).flatMap((segment) => behaviorsOf("workflows", segment)),
        ],
      },
    },
  };
}

const filesBehavior = (PathPattern: string, ResponseHeadersPolicyId: unknown) => ({
  PathPattern,
  TargetOriginId: ASSETS,
  ViewerProtocolPolicy: "redirect-to-https",
  AllowedMethods: ["GET", "HEAD"],
  Compress: true,
  CachePolicyId: CACHING_OPTIMIZED,
  ResponseHeadersPolicyId,
});

/** First segments of the paths of the workflow service. */
function workflowPaths(routes: readonly ScannedRoute[]): string[] {
  const segments = routes.map(({ route }) => fullPath(route).split("/")[1] ?? "");
  const own = segments.filter((segment) => segment !== "" && !segment.startsWith("{"));
  return [...new Set(own)].filter((segment) => !DOCUMENT_PATHS.includes(segment)).sort();
}

function apiOrigin(service: StackService) {
  return {
    Id: service,
    DomainName: {
      "Fn::Sub": [
        `\${Id}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}`,
        { Id: outputOf(stackId(service), "ApiId") },
      ],
    },
    OriginPath: `/${STAGE}`,
    CustomOriginConfig: {
      OriginProtocolPolicy: "https-only",
      OriginSSLProtocols: ["TLSv1.2"],
      OriginReadTimeout: READ_TIMEOUT_SECONDS,
    },
  };
}

/** Requests reach the API with their cookies, headers and query, and no response is cached. */
const apiBehavior = (service: StackService) => ({
  TargetOriginId: service,
  ViewerProtocolPolicy: "redirect-to-https",
  AllowedMethods: ["GET", "HEAD", "OPTIONS", "PUT", "POST", "PATCH", "DELETE"],
  Compress: true,
  CachePolicyId: CACHING_DISABLED,
  OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
});

const behaviorsOf = (service: StackService, segment: string) =>
  [`/${segment}`, `/${segment}/*`].map((PathPattern) => ({ PathPattern, ...apiBehavior(service) }));

export const WEB_OUTPUTS = {
  WebUrl: {
    Condition: WEB_CONDITION,
    Description: "Address of the web interface and of both APIs: the value for PublicUrl",
    Value: ifDomain(
      sub(`https://\${${WEB_DOMAIN_PARAMETER}}`),
      sub(`https://\${${DISTRIBUTION_ID}.DomainName}`),
    ),
  },
  WebTarget: {
    Condition: WEB_CONDITION,
    Description: "Target of the DNS record of WebDomainName",
    Value: attributeOf(DISTRIBUTION_ID, "DomainName"),
  },
  WebBucketName: {
    Condition: WEB_CONDITION,
    Description: "The bucket for the files of the web interface",
    Value: ref(BUCKET_ID),
  },
};
