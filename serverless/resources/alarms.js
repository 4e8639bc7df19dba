// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
import { functionNames, toLogicalId } from '../functions.ts';

const service = '${self:service} ${sls:stage}';
const api = { ApiName: '${sls:stage}-${self:service}', Stage: '${sls:stage}' }; // the framework's name
const functionErrors = functionNames.map((name) => [
  name,
  ['AWS/Lambda', 'Errors', { FunctionName: { Ref: `${toLogicalId(name)}LambdaFunction` } }],
]);

/** A metric that exists whenever there are requests. */
const requests = ['AWS/ApiGateway', 'Count', api];
const namespace = '${self:service}-${sls:stage}';
const errorRate = { Metrics: compute('failed / requests', { failed: ofStatus('5xx'), requests }) };

const alarmResources = {
  ErrorRateAlarm: createAlarm(`More than \${param:maxErrorRate} of all requests to ${service} end in 5xx`, {
    ...errorRate,
    Threshold: '${param:maxErrorRate}',
  }),
  RollbackAlarm: createAlarm(`So many requests to ${service} end in 5xx that a deploy is rolled back`, {
    ...errorRate,
    DatapointsToAlarm: 2, // CloudFormation watches it for a few minutes only
    Threshold: 0.05,
  }),
  // Of fewer requests, the 99th percentile is that of a single one.
  LatencyAlarm: createAlarm(`One in a hundred requests to ${service} takes more than \${param:maxLatencyMs} ms`, {
    Metrics: compute(
      'IF(requests >= 100, latency, 0)',
      { requests, latency: ['AWS/ApiGateway', 'Latency', api, 'p99'] },
      300,
    ),
    Threshold: '${param:maxLatencyMs}',
  }),
  UnauthorizedAlarm: createStatusAlarm(401, `Clients of ${service} send wrong passwords or tokens`),
  TooManyRequestsAlarm: createStatusAlarm(429, `Clients of ${service} send more requests than its limits allow`),
  FunctionErrorsAlarm: createAlarm(`A function of ${service} crashed or ran out of time`, {
    Metrics: compute('SUM(METRICS())', Object.fromEntries(functionErrors)),
    DatapointsToAlarm: 1,
    Threshold: 0,
  }),
  // The metric counts reserved instances whether they run or not, because no other function can use them.
  ConcurrencyAlarm: createAlarm(
    'More than ${param:maxConcurrency} function instances of the account run or are reserved',
    {
      Namespace: 'AWS/Lambda',
      MetricName: 'ClaimedAccountConcurrency',
      Statistic: 'Maximum',
      Period: 60,
      Threshold: '${param:maxConcurrency}',
    },
  ),
};

/** All alarms go to one topic. */
export const alarms = {
  Resources: {
    AlarmTopic: {
      Type: 'AWS::SNS::Topic',
      Properties: { DisplayName: `Alarms of ${service}`, SignatureVersion: '2' }, // SHA-256, where AWS's default is SHA-1
    },
    Status5xxMetric: countStatus('5xx', '5*'),
    Status401Metric: countStatus(401),
    Status429Metric: countStatus(429),
    ...alarmResources,
  },
  Outputs: {
    AlarmTopic: { Description: 'The topic of the alarms', Value: { Ref: 'AlarmTopic' } },
    RollbackAlarm: {
      Description: 'The alarm that rolls an update back (serverless/deploy/rollback-triggers.ts)',
      Value: { 'Fn::GetAtt': ['RollbackAlarm', 'Arn'] },
    },
  },
};

/** Makes an alarm on the share of a status among all requests, for periods with 50 or more of that status. */
function createStatusAlarm(status, description) {
  const refused = ofStatus(status);
  const Metrics = compute('IF(refused >= 50, refused / requests, 0)', { refused, requests }, 300);
  return createAlarm(description, { Metrics, Threshold: 0.05 });
}

/**
 * Counts a status in the access log, where it is a text. `*` stands for the other digits. API Gateway has one metric for all
 * 4xx, and counts in it also gateway responses with a status of our own, such as 502 ("Amazon API Gateway dimensions and
 * metrics").
 */
function countStatus(name, status = name) {
  const metric = { MetricNamespace: namespace, MetricName: `Status${name}`, MetricValue: '1', DefaultValue: 0 };
  const ofLog = { LogGroupName: { Ref: 'AccessLogGroup' }, FilterPattern: `{ $.status = "${status}" }` };
  return { Type: 'AWS::Logs::MetricFilter', Properties: { ...ofLog, MetricTransformations: [metric] } };
}

function ofStatus(name) {
  return [namespace, `Status${name}`, {}];
}

/**
 * @param metrics - by their names in the expression: namespace, name, dimensions, and the statistic (a sum by default)
 */
function compute(Expression, metrics, Period = 60) {
  const operands = Object.entries(metrics).map(([Id, [Namespace, MetricName, dimensions, Stat = 'Sum']]) => {
    const Metric = { Namespace, MetricName, Dimensions: toDimensions(dimensions) };
    return { Id, ReturnData: false, MetricStat: { Metric, Stat, Period } };
  });
  return [{ Id: 'value', Expression }, ...operands];
}

/**
 * Makes an alarm that goes off when three of five periods are above its threshold, unless `properties` say otherwise.
 */
function createAlarm(description, properties) {
  const topic = [{ Ref: 'AlarmTopic' }];
  const common = {
    AlarmDescription: `${description}. What to do: docs/incidents.md#alarms`,
    ActionsEnabled: true, // the default, written out because drift detection compares only what the template says
    ComparisonOperator: 'GreaterThanThreshold',
    EvaluationPeriods: 5,
    DatapointsToAlarm: 3,
    TreatMissingData: 'notBreaching', // no data: no requests
    AlarmActions: topic,
    OKActions: topic,
  };
  return { Type: 'AWS::CloudWatch::Alarm', Properties: { ...common, ...properties } };
}

function toDimensions(values) {
  return Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
}
