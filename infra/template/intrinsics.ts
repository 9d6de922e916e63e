/** A resource of a template, as it is written. */
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

/** The parameter of a nested stack that holds the name of the whole installation's stack. */
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

/** What a nested stack gives out. */
export function outputOf(
  stackId: string,
  output: string,
): { readonly "Fn::GetAtt": readonly [string, string] } {
  return { "Fn::GetAtt": [stackId, `Outputs.${output}`] };
}

/** In the main template: a name that no other stack of the account has. */
export function stackName(name: string): { readonly "Fn::Sub": string } {
  return sub(`\${AWS::StackName}-${name}`);
}

/** In a nested template: the same name. */
export function installationName(name: string): { readonly "Fn::Sub": string } {
  return sub(`\${${STACK_NAME}}-${name}`);
}

/** In a nested template: the ARN of what the installation has under a name, `table/${StackName}-runs`. */
export function installationArn(service: string, resource: string): { readonly "Fn::Sub": string } {
  return sub(
    `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}:${resource.replaceAll("*", `\${${STACK_NAME}}`)}`,
  );
}

/** Throws where two parts claim one logical id. */
export function merged(parts: readonly ResourceMap[]): ResourceMap {
  const all: Record<string, Resource> = {};
  for (const part of parts) {
    for (const [logicalId, resource] of Object.entries(part)) {
      if (Object.hasOwn(all, logicalId))
        throw new Error(`two resources would be called ${logicalId}: rename one`);
      all[logicalId] = resource;
    }
  }
  return all;
}
