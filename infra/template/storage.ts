import { UPLOADS_DAYS, UPLOADS_PREFIX } from "../../lib/platform/blobs.ts";
import { CLAIMS_DAYS, CLAIMS_PREFIX } from "../../lib/platform/claims.ts";
import { CONVERSIONS_DAYS, CONVERSIONS_PREFIX } from "../../lib/platform/conversions.ts";
import { RENDERINGS_DAYS, RENDERINGS_PREFIX } from "../../lib/platform/renderings.ts";
import type { TableSpec } from "../../lib/platform/tables.ts";
import { byCodeUnits, toPascalCase } from "../names.ts";
import { type ResourceMap, stackName } from "./intrinsics.ts";

export const BLOBS_ID = "BlobsBucket";

/** An incomplete multipart upload is aborted after this time, days. */
const UPLOAD_DAYS = 7;

/**
 * Data outlives the stack. Resources of a failed creation are deleted: tables have fixed names, and leftovers would
 * block the next attempt.
 */
const RETAIN = { DeletionPolicy: "RetainExceptOnCreate", UpdateReplacePolicy: "Retain" } as const;
/** Replaced and deleted object versions are kept as long as the tables' point-in-time recovery reaches, days. */
const VERSIONS_DAYS = 35;
/** Retention period of versions of temporary objects. */
const TEMPORARY_VERSIONS_DAYS = 1;

/** The logical id of a table. */
export const tableId = (table: TableSpec): string => `${toPascalCase(table.name)}Table`;

export function tableResources(table: TableSpec): ResourceMap {
  const indexes = Object.entries(table.indexes).sort(([left], [right]) => byCodeUnits(left, right));
  const attributes = new Set(["pk", "sk", ...indexes.flatMap(([, index]) => [index.pk, index.sk])]);
  return {
    [tableId(table)]: {
      Type: "AWS::DynamoDB::Table",
      ...RETAIN,
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
                Projection: { ProjectionType: index.keysOnly === true ? "KEYS_ONLY" : "ALL" },
              })),
            }),
        ...(table.expires === undefined
          ? {}
          : { TimeToLiveSpecification: { AttributeName: table.expires, Enabled: true } }),
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

/** The bucket for blobs. CloudFormation generates its name, because bucket names are global. */
export function bucketResources(): ResourceMap {
  return {
    [BLOBS_ID]: {
      Type: "AWS::S3::Bucket",
      ...RETAIN,
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
        VersioningConfiguration: { Status: "Enabled" },
        LifecycleConfiguration: {
          Rules: [
            // A claim is useless once no queue contains its message.
            expireTemporary("claims", CLAIMS_PREFIX, CLAIMS_DAYS),
            // Uploaded content that no document uses.
            expireTemporary("sent", UPLOADS_PREFIX, UPLOADS_DAYS),
            expireTemporary("conversions", CONVERSIONS_PREFIX, CONVERSIONS_DAYS),
            expireTemporary("renderings", RENDERINGS_PREFIX, RENDERINGS_DAYS),
            {
              Id: "uploads",
              Status: "Enabled",
              AbortIncompleteMultipartUpload: { DaysAfterInitiation: UPLOAD_DAYS },
            },
            {
              Id: "versions",
              Status: "Enabled",
              NoncurrentVersionExpiration: { NoncurrentDays: VERSIONS_DAYS },
              ExpiredObjectDeleteMarker: true,
            },
          ],
        },
      },
    },
  };
}

function expireTemporary(Id: string, Prefix: string, ExpirationInDays: number): Record<string, unknown> {
  return {
    Id,
    Status: "Enabled",
    Prefix,
    ExpirationInDays,
    NoncurrentVersionExpiration: { NoncurrentDays: TEMPORARY_VERSIONS_DAYS },
  };
}
