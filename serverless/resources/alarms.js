// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
import { toLogicalId } from '../framework.ts';
import { functionNames } from '../packaging/package-service.ts';
import { tableName } from './roles.js';

/** The operations on the table, as CloudWatch names them. */
export const tableOperations = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'TransactWriteItems'];

const service = '${self:service} ${sls:stage}';
const api = { ApiName: '${sls:stage}-${self:service}', Stage: '${sls:stage}' }; // the framework's name
const ofApi = {
  Namespace: 'AWS/ApiGateway',
  Dimensions: toDimensions(api),
  ComparisonOperator: 'GreaterThanThreshold',
  DatapointsToAlarm: 3,
};
const ofFunctions = (metric) =>
  functionNames.map((name) => {
    const FunctionName = { Ref: `${toLogicalId(name)}LambdaFunction` };
    return ['AWS/Lambda', metric, { FunctionName }];
  });

/** A metric that exists whenever there are requests. */
const requests = ['AWS/ApiGateway', 'Count', api];
const table = { TableName: tableName };

const alarmResources = {
  ErrorShareAlarm: createAlarm(`More than \${param:maxErrorShare} of all requests to ${service} end in 5xx`, {
    ...ofApi,
    MetricName: '5XXError',
    Statistic: 'Average', // of 0 or 1 for each request
    Period: 60,
    EvaluationPeriods: 5,
    Threshold: '${param:maxErrorShare}',
  }),
  LatencyAlarm: createAlarm(`One in a hundred requests to ${service} takes more than \${param:maxLatencyMs} ms`, {
    ...ofApi,
    MetricName: 'Latency',
    ExtendedStatistic: 'p99',
    EvaluateLowSampleCountPercentile: 'ignore', // a single cold start at night is not an incident
    Period: 300,
    EvaluationPeriods: 3,
    Threshold: '${param:maxLatencyMs}',
  }),
  FunctionErrorsAlarm: createSumAlarm(`A function of ${service} crashed or ran out of time`, ofFunctions('Errors'), {
    datapoints: 1,
    threshold: 1,
  }),
  FunctionThrottlesAlarm: createSumAlarm(
    `Functions of ${service} are throttled (the account has no concurrency left)`,
    ofFunctions('Throttles'),
    { datapoints: 3, threshold: 1 },
  ),
  TableThrottlesAlarm: createSumAlarm(
    `Requests to the table of ${service} are throttled`,
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => ['AWS/DynamoDB', metric, table]),
    { datapoints: 3, threshold: 10, basis: requests },
  ),
  TableErrorsAlarm: createSumAlarm(
    `DynamoDB fails requests of ${service}`,
    tableOperations.map((Operation) => ['AWS/DynamoDB', 'SystemErrors', { ...table, Operation }]),
    { datapoints: 3, threshold: 1, basis: requests },
  ),
};

/** All alarms go to one topic. docs/operations.md, "Alarms", has the actions. */
export const alarms = {
  Parameters: {
    AlarmEmail: {
      Type: 'String',
      Default: '${param:alarmEmail}',
      Description: 'Address that receives alarms; none when empty',
    },
  },
  Conditions: { HasAlarmEmail: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'AlarmEmail' }, ''] }] } },
  Resources: {
    AlarmTopic: { Type: 'AWS::SNS::Topic', Properties: { DisplayName: `Alarms of ${service}` } },
    AlarmEmailSubscription: {
      Type: 'AWS::SNS::Subscription',
      Condition: 'HasAlarmEmail',
      Properties: { TopicArn: { Ref: 'AlarmTopic' }, Protocol: 'email', Endpoint: { Ref: 'AlarmEmail' } },
    },
    ...alarmResources,
  },
  Outputs: {
    AlarmTopic: { Description: 'The topic of the alarms', Value: { Ref: 'AlarmTopic' } },
    ErrorAlarms: {
      Description: 'The alarms that roll an update back (serverless/deploy/rollback-triggers.ts)',
      Value: { 'Fn::Sub': '${ErrorShareAlarm.Arn},${FunctionErrorsAlarm.Arn}' },
    },
  },
};

/**
 * An alarm on the sum of some metrics. The metrics of errors in DynamoDB exist only while there are errors, and AWS's
 * documents disagree about whether alarms on them treat missing data as other alarms do. A basis, a metric that always
 * exists, makes the sum 0 then.
 */
function createSumAlarm(description, metrics, { datapoints, threshold, basis }) {
  const filled = metrics.map((_, index) => `FILL(m${index + 1}, 0)`).join(' + ');
  const Expression = basis ? `${filled} + 0 * m${metrics.length + 1}` : 'SUM(METRICS())';
  return createAlarm(description, {
    Metrics: [
      { Id: 'total', Expression, Label: 'total' },
      ...[...metrics, ...(basis ? [basis] : [])].map(([Namespace, MetricName, dimensions], index) => {
        const Metric = { Namespace, MetricName, Dimensions: toDimensions(dimensions) };
        return { Id: `m${index + 1}`, ReturnData: false, MetricStat: { Metric, Stat: 'Sum', Period: 60 } };
      }),
    ],
    EvaluationPeriods: 5,
    DatapointsToAlarm: datapoints,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    Threshold: threshold,
  });
}

function createAlarm(AlarmDescription, properties) {
  const topic = [{ Ref: 'AlarmTopic' }];
  const common = { TreatMissingData: 'notBreaching', AlarmActions: topic, OKActions: topic }; // no data: no requests
  return { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmDescription, ...properties, ...common } };
}

function toDimensions(values) {
  return Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
}
