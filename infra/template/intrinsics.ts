/** A resource of a template. */
export interface Resource {
  readonly Type: string;
  readonly Condition?: string;
  readonly DependsOn?: string;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: "Retain" | "RetainExceptOnCreate";
  readonly UpdateReplacePolicy?: "Retain";
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** Logical id -> resource. */
export type ResourceMap = Readonly<Record<string, Resource>>;

/** The parameter of a nested stack with the name of the main stack. */
export const STACK_NAME = "StackName";

export function ref(logicalId: string): { readonly Ref: string } {
  return { Ref: logicalId };
}

export function sub(text: string): { readonly "Fn::Sub": string } {
  return { "Fn::Sub": text };
}

export function arnOf(logicalId: string): { readonly "Fn::GetAtt": readonly [string, "Arn"] } {
  return { "Fn::GetAtt": [logicalId, "Arn"] };
}

/** An output of a nested stack. */
export function outputOf(
  stackId: string,
  output: string,
): { readonly "Fn::GetAtt": readonly [string, string] } {
  return { "Fn::GetAtt": [stackId, `Outputs.${output}`] };
}

/** In the main template: a name that is unique in the account. */
export function stackName(name: string): { readonly "Fn::Sub": string } {
  return sub(`\${AWS::StackName}-${name}`);
}

/** In a nested template: the same name. */
export function installationName(name: string): { readonly "Fn::Sub": string } {
  return sub(`\${${STACK_NAME}}-${name}`);
}

/** In a nested template: the ARN of a resource of the installation by name, `table/${StackName}-runs`. */
export function installationArn(service: string, resource: string): { readonly "Fn::Sub": string } {
  return sub(
    `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource.replaceAll("*", `\${${STACK_NAME}}`)}`,
  );
}

/** Throws if two parts contain the same logical id. */
export function mergeResources(parts: readonly ResourceMap[]): ResourceMap {
  const all: Record<string, Resource> = {};
  for (const part of parts) {
    for (const [logicalId, resource] of Object.entries(part)) {
      if (Object.hasOwn(all, logicalId))
        throw new Error(`two resources have the logical id ${logicalId}: rename one`);
      all[logicalId] = resource;
    }
  }
  return all;
}
