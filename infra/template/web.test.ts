import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { scanFunctions } from "../scan.ts";
import { toTemplates } from "./template.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const main = toTemplates(await scanFunctions(ROOT)).get("template.yaml")!;

interface Behavior {
  readonly PathPattern: string;
  readonly TargetOriginId: string;
  readonly CachePolicyId: string;
  readonly OriginRequestPolicyId?: string;
  readonly ViewerProtocolPolicy: string;
}
interface Config {
  readonly CacheBehaviors: readonly Behavior[];
  readonly DefaultCacheBehavior: Behavior & { readonly FunctionAssociations: readonly unknown[] };
}
const web = Object.entries(main.Resources).filter(([id]) => id.startsWith("Web"));
const config = () =>
  (main.Resources["WebDistribution"]!.Properties as { DistributionConfig: Config }).DistributionConfig;

it("creates nothing of the web interface by default: LocalStack has no CloudFront", () => {
  expect((main.Parameters["WebInterface"] as { Default: string }).Default).toBe("false");
  expect(web).toHaveLength(6);
  for (const [, { Condition }] of web) expect(Condition).toBe("HasWebInterface");
  for (const name of ["WebUrl", "WebTarget", "WebBucketName"])
    expect(main.Outputs[name]).toMatchObject({ Condition: "HasWebInterface" });
});

it("lets only the distribution read the bucket, and only the files below assets/", () => {
  expect(main.Resources["WebBucket"]!.Properties).toMatchObject({
    PublicAccessBlockConfiguration: {
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    },
  });
  const { PolicyDocument } = main.Resources["WebBucketPolicy"]!.Properties as {
    PolicyDocument: { Statement: readonly object[] };
  };
  expect(PolicyDocument.Statement).toEqual([
    {
      Effect: "Allow",
      Principal: { Service: "cloudfront.amazonaws.com" },
      Action: "s3:GetObject",
      Resource: { "Fn::Sub": "${WebBucket.Arn}/assets/*" },
      Condition: {
        StringEquals: { "AWS:SourceArn": { "Fn::Sub": expect.stringContaining("${WebDistribution}") } },
      },
    },
  ]);
});

it("sends the paths of each API to it, uncached and with cookies, and every other path to the page", () => {
  const { CacheBehaviors, DefaultCacheBehavior } = config();
  const targets = new Map(
    CacheBehaviors.map(({ PathPattern, TargetOriginId }) => [PathPattern, TargetOriginId]),
  );
  expect(Object.fromEntries(targets)).toMatchObject({
    "/assets/service-worker-*": "assets",
    "/assets/*": "assets",
    "/api/*": "documents",
    "/login/*": "documents",
    "/media/*": "documents",
    "/automation/*": "workflows",
    "/health": "workflows",
    "/openapi.json": "workflows",
  });
  const apis = CacheBehaviors.filter(({ TargetOriginId }) => TargetOriginId !== "assets");
  for (const { CachePolicyId, OriginRequestPolicyId } of [...apis, DefaultCacheBehavior])
    expect([CachePolicyId, OriginRequestPolicyId]).toEqual([
      "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",
      "b689b0a8-53d0-40ab-baf2-68738e2966ac",
    ]);
  expect(DefaultCacheBehavior.FunctionAssociations).toHaveLength(1);
  for (const { ViewerProtocolPolicy } of CacheBehaviors)
    expect(ViewerProtocolPolicy).toBe("redirect-to-https");
  // CloudFront's quota of cache behaviors, with the default one.
  expect(CacheBehaviors.length + 1).toBeLessThanOrEqual(25);
});

it("rewrites every address to the path of the page's function", () => {
  const { FunctionCode } = main.Resources["WebPagePath"]!.Properties as { FunctionCode: string };
  const run = new Function("event", `${FunctionCode} return handler(event);`) as (event: object) => unknown;
  expect(run({ request: { uri: "/runs/1", querystring: { tab: { value: "log" } } } })).toEqual({
    uri: "/automation/web-page",
    querystring: {},
  });
});
