import { LISTENER_ID, TARGET_GROUP_ID, TASK_GROUP_ID, TASK_PORT } from "./collaboration-balancer.ts";
import { arnOf, type ResourceMap, ref, STACK_NAME, sub } from "./intrinsics.ts";
import { LOG_GROUP_ID, RETENTION_PARAMETER } from "./logs.ts";
import { roleWithPolicies, type Statement } from "./policies.ts";
import { DOCUMENT_SECRETS_PARAMETER } from "./step-settings.ts";

const CLUSTER_ID = "Cluster";
const TASK_ID = "TaskDefinition";
const ROLE_ID = "ExecutionRole";
const CONTAINER = "collaboration";

/** Time between SIGTERM and SIGKILL: the process writes what it has received and ends its lease, seconds. */
const STOP_SECONDS = 30;
const START_SECONDS = 60;

/** The key of the collaboration server, as the functions of the documents read it. */
const KEY_ARN = sub(
  `arn:\${AWS::Partition}:ssm:\${AWS::Region}:\${AWS::AccountId}:parameter\${${DOCUMENT_SECRETS_PARAMETER}}/Y_PROVIDER_API_KEY`,
);

/** Tasks on Fargate. `apiParameter` is the parameter with the URL of the document service. */
export function taskResources(apiParameter: string): ResourceMap {
  return {
    [CLUSTER_ID]: { Type: "AWS::ECS::Cluster", Properties: {} },
    [LOG_GROUP_ID]: {
      Type: "AWS::Logs::LogGroup",
      Properties: {
        LogGroupName: sub(`/weft/\${${STACK_NAME}}/collaboration`),
        RetentionInDays: ref(RETENTION_PARAMETER),
      },
    },
    ...executionRole(),
    [TASK_ID]: {
      Type: "AWS::ECS::TaskDefinition",
      Properties: {
        Family: sub(`\${${STACK_NAME}}-collaboration`),
        RequiresCompatibilities: ["FARGATE"],
        NetworkMode: "awsvpc",
        Cpu: ref("CollaborationCpu"),
        Memory: ref("CollaborationMemory"),
        RuntimePlatform: {
          OperatingSystemFamily: "LINUX",
          CpuArchitecture: ref("CollaborationArchitecture"),
        },
        // The process itself calls only the document service, so it has no role, and no credentials.
        ExecutionRoleArn: arnOf(ROLE_ID),
        ContainerDefinitions: [
          {
            Name: CONTAINER,
            Image: ref("CollaborationImage"),
            Essential: true,
            EntryPoint: ["tini", "--", "node", "/opt/weft/bin/weft.js", "collaboration"],
            PortMappings: [{ ContainerPort: TASK_PORT, Protocol: "tcp" }],
            Environment: variables({
              HOST: "0.0.0.0",
              PORT: String(TASK_PORT),
              COLLABORATION_BACKEND_BASE_URL: ref(apiParameter),
              COLLABORATION_SERVER_ORIGIN: ref("CollaborationOrigins"),
              COLLABORATION_TRUSTED_PROXIES: "1",
            }),
            Secrets: [{ Name: "Y_PROVIDER_API_KEY", ValueFrom: KEY_ARN }],
            StopTimeout: STOP_SECONDS,
            LinuxParameters: { Capabilities: { Drop: ["ALL"] } },
            LogConfiguration: {
              LogDriver: "awslogs",
              Options: {
                "awslogs-group": ref(LOG_GROUP_ID),
                "awslogs-region": ref("AWS::Region"),
                "awslogs-stream-prefix": CONTAINER,
              },
            },
          },
        ],
      },
    },
    Service: {
      Type: "AWS::ECS::Service",
      // A target group without a listener cannot be used by a service.
      DependsOn: LISTENER_ID,
      Properties: {
        Cluster: ref(CLUSTER_ID),
        LaunchType: "FARGATE",
        TaskDefinition: ref(TASK_ID),
        DesiredCount: ref("CollaborationTasks"),
        DeploymentConfiguration: {
          MinimumHealthyPercent: 100,
          MaximumPercent: 200,
          DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        },
        HealthCheckGracePeriodSeconds: START_SECONDS,
        NetworkConfiguration: {
          AwsvpcConfiguration: {
            Subnets: ref("CollaborationTaskSubnets"),
            SecurityGroups: [ref(TASK_GROUP_ID)],
            AssignPublicIp: ref("CollaborationPublicIp"),
          },
        },
        LoadBalancers: [
          { ContainerName: CONTAINER, ContainerPort: TASK_PORT, TargetGroupArn: ref(TARGET_GROUP_ID) },
        ],
      },
    },
  };
}

const variables = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([Name, Value]) => ({ Name, Value }));

/** With which Fargate starts the container: it pulls the image, reads the key and writes the log. */
const executionRole = (): ResourceMap =>
  roleWithPolicies(
    ROLE_ID,
    ["ecs-tasks.amazonaws.com"],
    [
      // It has no resource.
      allow(["ecr:GetAuthorizationToken"], "*"),
      allow(
        ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
        sub("arn:${AWS::Partition}:ecr:${AWS::Region}:${AWS::AccountId}:repository/*"),
      ),
      allow(["logs:CreateLogStream", "logs:PutLogEvents"], arnOf(LOG_GROUP_ID)),
      allow(["ssm:GetParameters"], KEY_ARN),
    ],
  );

const allow = (Action: readonly string[], Resource: unknown): Statement => ({
  Effect: "Allow",
  Action,
  Resource,
});
