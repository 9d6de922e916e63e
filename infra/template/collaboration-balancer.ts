import { TOPIC_CONDITION, TOPIC_PARAMETER } from "./alarms.ts";
import { type Resource, type ResourceMap, ref } from "./intrinsics.ts";

/** Port of the collaboration server in its task. */
export const TASK_PORT = 4444;
export const LOAD_BALANCER_ID = "LoadBalancer";
export const LISTENER_ID = "Listener";
export const TARGET_GROUP_ID = "TargetGroup";
export const TASK_GROUP_ID = "TaskSecurityGroup";
const BALANCER_GROUP_ID = "BalancerSecurityGroup";

/** A connection without messages is closed by the collaboration server itself, seconds. */
const IDLE_SECONDS = 3_600;
/** A stopping task has closed its sockets long before, seconds. */
const DEREGISTRATION_SECONDS = 20;
const CHECK_SECONDS = 10;

const ANYWHERE = "0.0.0.0/0";
const ifCertificate = (then: unknown, otherwise: unknown) => ({
  "Fn::If": ["HasCertificate", then, otherwise],
});
const LISTENER_PORT = ifCertificate(443, 80);

/** The load balancer, its security group and that of the tasks, and an alarm. */
export function balancerResources(): ResourceMap {
  return {
    [LOAD_BALANCER_ID]: {
      Type: "AWS::ElasticLoadBalancingV2::LoadBalancer",
      Properties: {
        Type: "application",
        Scheme: "internet-facing",
        Subnets: ref("CollaborationBalancerSubnets"),
        SecurityGroups: [ref(BALANCER_GROUP_ID)],
        LoadBalancerAttributes: [
          { Key: "idle_timeout.timeout_seconds", Value: String(IDLE_SECONDS) },
          { Key: "routing.http.drop_invalid_header_fields.enabled", Value: "true" },
        ],
      },
    },
    [LISTENER_ID]: {
      Type: "AWS::ElasticLoadBalancingV2::Listener",
      Properties: {
        LoadBalancerArn: ref(LOAD_BALANCER_ID),
        Port: LISTENER_PORT,
        Protocol: ifCertificate("HTTPS", "HTTP"),
        Certificates: ifCertificate(
          [{ CertificateArn: ref("CollaborationCertificateArn") }],
          ref("AWS::NoValue"),
        ),
        SslPolicy: ifCertificate("ELBSecurityPolicy-TLS13-1-2-2021-06", ref("AWS::NoValue")),
        DefaultActions: [{ Type: "forward", TargetGroupArn: ref(TARGET_GROUP_ID) }],
      },
    },
    [TARGET_GROUP_ID]: {
      Type: "AWS::ElasticLoadBalancingV2::TargetGroup",
      Properties: {
        VpcId: ref("CollaborationVpcId"),
        TargetType: "ip",
        Protocol: "HTTP",
        Port: TASK_PORT,
        HealthCheckPath: "/ping",
        HealthCheckIntervalSeconds: CHECK_SECONDS,
        HealthCheckTimeoutSeconds: CHECK_SECONDS / 2,
        HealthyThresholdCount: 2,
        UnhealthyThresholdCount: 2,
        TargetGroupAttributes: [
          { Key: "deregistration_delay.timeout_seconds", Value: String(DEREGISTRATION_SECONDS) },
          { Key: "load_balancing.algorithm.type", Value: "least_outstanding_requests" },
        ],
      },
    },
    ...securityGroups(),
    UnhealthyAlarm: {
      Type: "AWS::CloudWatch::Alarm",
      Properties: {
        AlarmDescription: "No task of the collaboration server is healthy",
        Namespace: "AWS/ApplicationELB",
        MetricName: "HealthyHostCount",
        Dimensions: [
          { Name: "TargetGroup", Value: { "Fn::GetAtt": [TARGET_GROUP_ID, "TargetGroupFullName"] } },
          { Name: "LoadBalancer", Value: { "Fn::GetAtt": [LOAD_BALANCER_ID, "LoadBalancerFullName"] } },
        ],
        Statistic: "Maximum",
        Period: 60,
        EvaluationPeriods: 3,
        Threshold: 1,
        ComparisonOperator: "LessThanThreshold",
        TreatMissingData: "breaching",
        AlarmActions: { "Fn::If": [TOPIC_CONDITION, [ref(TOPIC_PARAMETER)], ref("AWS::NoValue")] },
      },
    },
  };
}

/** Clients reach the load balancer only, which reaches the tasks, as do other tasks. */
function securityGroups(): ResourceMap {
  const group = (description: string): Resource => ({
    Type: "AWS::EC2::SecurityGroup",
    Properties: {
      GroupDescription: description,
      VpcId: ref("CollaborationVpcId"),
      // Without this the group would allow all outgoing traffic.
      SecurityGroupEgress: [
        { IpProtocol: "icmp", FromPort: -1, ToPort: -1, CidrIp: "127.0.0.1/32", Description: "None" },
      ],
    },
  });
  const rule = (kind: "Ingress" | "Egress", groupId: string, more: object, port: unknown = TASK_PORT) => ({
    Type: `AWS::EC2::SecurityGroup${kind}`,
    Properties: {
      GroupId: { "Fn::GetAtt": [groupId, "GroupId"] },
      IpProtocol: "tcp",
      FromPort: port,
      ToPort: port,
      ...more,
    },
  });
  const source = (id: string) => ({ SourceSecurityGroupId: { "Fn::GetAtt": [id, "GroupId"] } });
  const destination = (id: string) => ({ DestinationSecurityGroupId: { "Fn::GetAtt": [id, "GroupId"] } });
  const from = { CidrIp: ref("CollaborationIngressCidr") };
  return {
    [BALANCER_GROUP_ID]: group("Load balancer of the collaboration server"),
    [TASK_GROUP_ID]: group("Tasks of the collaboration server"),
    ClientsToBalancer: rule("Ingress", BALANCER_GROUP_ID, from, LISTENER_PORT),
    BalancerToTasks: rule("Egress", BALANCER_GROUP_ID, destination(TASK_GROUP_ID)),
    TasksFromBalancer: rule("Ingress", TASK_GROUP_ID, source(BALANCER_GROUP_ID)),
    TasksFromTasks: rule("Ingress", TASK_GROUP_ID, source(TASK_GROUP_ID)),
    TasksToTasks: rule("Egress", TASK_GROUP_ID, destination(TASK_GROUP_ID)),
    // The document service, the registry of the image, the parameter store and the logs.
    TasksToServices: rule("Egress", TASK_GROUP_ID, { CidrIp: ANYWHERE }, 443),
  };
}
