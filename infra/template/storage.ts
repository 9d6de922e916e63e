import { UPLOADS_DAYS, UPLOADS_PREFIX } from "../../lib/platform/blobs.ts";
import { CLAIMS_DAYS, CLAIMS_PREFIX } from "../../lib/platform/claims.ts";
import { CONVERSIONS_DAYS, CONVERSIONS_PREFIX } from "../../lib/platform/conversions.ts";
import type { TableSpec } from "../../lib/platform/tables.ts";
import { byCodeUnits, toPascalCase } from "../names.ts";
import { type ResourceMap, stackName } from "./intrinsics.ts";

export const BLOBS_ID = "BlobsBucket";

/** A file that was not sent to its end is given up after so long, days. */
const UPLOAD_DAYS = 7;

/** Data outlives the stack. */
const KEPT = { DeletionPolicy: "Retain", UpdateReplacePolicy: "Retain" } as const;

/** The logical id of a table. */
export const tableId = (table: TableSpec): string => `${toPascalCase(table.name)}Table`;

export function tableResources(table: TableSpec): ResourceMap {
  const indexes = Object.entries(table.indexes).sort(([left], [right]) => byCodeUnits(left, right));
  const attributes = new Set(["pk", "sk", ...indexes.flatMap(([, index]) => [index.pk, index.sk])]);
  return {
    [tableId(table)]: {
      Type: "AWS::DynamoDB::Table",
      ...KEPT,
      Properties: {
        TableName: stackName(table.name),
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [...attributes].map((name) => ({ AttributeName: name, AttributeType: "S" })),
        KeySchema: keySchema("pk", "sk"),
        ...(indexes.length === 0
          ? {}
          : {
              GlobalSecondaryIndexes: indexes.map(([name, index]) => ({
                IndexName: name,
                KeySchema: keySchema(index.pk, index.sk),
                Projection: { ProjectionType: "ALL" },
              })),
            }),
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
      },
    },
  };
}

function keySchema(pk: string, sk: string): readonly Record<string, string>[] {
  return [
    { AttributeName: pk, KeyType: "HASH" },
    { AttributeName: sk, KeyType: "RANGE" },
  ];
}

/** The bucket for blobs. CloudFormation names it: bucket names are shared by the whole world. */
export function bucketResources(): ResourceMap {
  return {
    [BLOBS_ID]: {
      Type: "AWS::S3::Bucket",
      ...KEPT,
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
        LifecycleConfiguration: {
          Rules: [
            // Who came first no longer matters once no queue holds the message that they came for.
            { Id: "claims", Status: "Enabled", Prefix: CLAIMS_PREFIX, ExpirationInDays: CLAIMS_DAYS },
            // Contents that were sent, and never made a document's.
            { Id: "sent", Status: "Enabled", Prefix: UPLOADS_PREFIX, ExpirationInDays: UPLOADS_DAYS },
            {
              Id: "conversions",
              Status: "Enabled",
              Prefix: CONVERSIONS_PREFIX,
              ExpirationInDays: CONVERSIONS_DAYS,
            },
            {
              Id: "uploads",
              Status: "Enabled",
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: UPLOAD_DAYS },
            },
          ],
        },
      },
    },
  };
}
