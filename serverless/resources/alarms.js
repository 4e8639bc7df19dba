// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
import { functionNames } from './roles.js';

/** The operations on the table, as CloudWatch names them. */
export const tableOperations = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'];

const service = '${self:service} ${sls:stage}';
const api = toDimensions({ ApiName: '${sls:stage}-${self:service}', Stage: '${sls:stage}' }); // the framework's name

const shareOf5xx = createAlarm(`More than \${param:maxErrorShare} of all requests to ${service} end in 5xx`, {
  Namespace: 'AWS/ApiGateway',
  MetricName: '5XXError',
  Dimensions: api,
  Statistic: 'Average', // of 0 or 1 for each request
  Period: 60,
  EvaluationPeriods: 5,
  DatapointsToAlarm: 3,
  ComparisonOperator: 'GreaterThanThreshold',
  Threshold: '${param:maxErrorShare}',
});

const latency = createAlarm(
  `One in a hundred requests to ${service} takes more than \${param:maxLatencyMs} ms`,
  {
    Namespace: 'AWS/ApiGateway',
    MetricName: 'Latency',
    Dimensions: api,
    ExtendedStatistic: 'p99',
    EvaluateLowSampleCountPercentile: 'ignore', // a single cold start at night is not an incident
    Period: 300,
    EvaluationPeriods: 3,
    DatapointsToAlarm: 3,
    ComparisonOperator: 'GreaterThanThreshold',
    Threshold: '${param:maxLatencyMs}',
  },
);

const ofFunctions = (metric) =>
  functionNames.map((name) => ['AWS/Lambda', metric, { FunctionName: { Ref: `${name}LambdaFunction` } }]);
const table = { TableName: { Ref: 'BookTable' } };

/** Alarms on the sum of several metrics. */
const sums = {
  FunctionErrorsAlarm: createSumAlarm(
    `A function of ${service} crashed or ran out of time`,
    ofFunctions('Errors'),
    { datapoints: 1, threshold: 1 },
  ),
  FunctionThrottlesAlarm: createSumAlarm(
    `Functions of ${service} are throttled (the account has no concurrency left)`,
    ofFunctions('Throttles'),
    { datapoints: 3, threshold: 1 },
  ),
  TableThrottlesAlarm: createSumAlarm(
    `Requests to the table of ${service} are throttled`,
    ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => ['AWS/DynamoDB', metric, table]),
    { datapoints: 3, threshold: 10 },
  ),
  TableErrorsAlarm: createSumAlarm(
    `DynamoDB fails requests of ${service}`,
    tableOperations.map((Operation) => ['AWS/DynamoDB', 'SystemErrors', { ...table, Operation }]),
    { datapoints: 3, threshold: 1 },
  ),
};

/**
 * All alarms go to one topic (docs/operations.md, "Alarms", has the actions). Missing data means no requests, not a fault.
 */
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
    ErrorShareAlarm: shareOf5xx,
    LatencyAlarm: latency,
    ...sums,
  },
  Outputs: {
    AlarmTopic: { Description: 'The topic of the alarms', Value: { Ref: 'AlarmTopic' } },
    ErrorAlarms: {
      Description: 'The alarms that roll an update back (serverless/deploy/rollback-triggers.ts)',
      Value: { 'Fn::Sub': '${ErrorShareAlarm.Arn},${FunctionErrorsAlarm.Arn}' },
    },
  },
};

function createSumAlarm(description, metrics, { datapoints, threshold }) {
  return createAlarm(description, {
    Metrics: [
      { Id: 'total', Expression: 'SUM(METRICS())', Label: 'total' },
      ...metrics.map(([Namespace, MetricName, dimensions], index) => ({
        Id: `m${index + 1}`,
        ReturnData: false,
        MetricStat: {
          Metric: { Namespace, MetricName, Dimensions: toDimensions(dimensions) },
          Stat: 'Sum',
          Period: 60,
        },
      })),
    ],
    EvaluationPeriods: 5,
    DatapointsToAlarm: datapoints,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    Threshold: threshold,
  });
}

function createAlarm(AlarmDescription, properties) {
  const topic = [{ Ref: 'AlarmTopic' }];
  return {
    Type: 'AWS::CloudWatch::Alarm',
    Properties: {
      AlarmDescription,
      ...properties,
      TreatMissingData: 'notBreaching',
      AlarmActions: topic,
      OKActions: topic,
    },
  };
}

function toDimensions(values) {
  return Object.entries(values).map(([Name, Value]) => ({ Name, Value }));
}
