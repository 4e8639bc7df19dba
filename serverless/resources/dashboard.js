// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
import { tableOperations } from './alarms.js';
import { functionNames } from './roles.js';

const ofApi = (metric) => [
  'AWS/ApiGateway',
  metric,
  'ApiName',
  '${sls:stage}-${self:service}',
  'Stage',
  '${sls:stage}',
];
const ofTable = (metric) => ['AWS/DynamoDB', metric, 'TableName', '${BookTable}'];
const ofOperations = (metric) =>
  tableOperations.map((name) => [...ofTable(metric), 'Operation', name, { label: name }]);
const ofFunctions = (metric) =>
  functionNames.map((name) => {
    const label = name[0].toLowerCase() + name.slice(1);
    return ['AWS/Lambda', metric, 'FunctionName', `\${${name}LambdaFunction}`, { label }];
  });
const alarmAt = (label, value) => ({ annotations: { horizontal: [{ label, value }] } });

/** Title, statistic, metrics and further properties of each widget, row by row. */
const rows = [
  [
    ['Requests a minute', 'Sum', ['Count', '4XXError', '5XXError'].map(ofApi)],
    ['Share of 5xx', 'Average', [ofApi('5XXError')], alarmAt('alarm', '${param:maxErrorShare}')],
    [
      'Latency (ms)',
      'p99',
      [[...ofApi('Latency'), { stat: 'p50' }], ofApi('Latency')],
      alarmAt('alarm (p99)', '${param:maxLatencyMs}'),
    ],
  ],
  [
    ['Functions: errors', 'Sum', ofFunctions('Errors')],
    ['Functions: throttles', 'Sum', ofFunctions('Throttles')],
    ['Functions: p99 duration (ms)', 'p99', ofFunctions('Duration')],
    ['Functions: concurrent', 'Maximum', ofFunctions('ConcurrentExecutions')],
  ],
  [
    [
      'Table: consumed units a minute',
      'Sum',
      [
        'ConsumedReadCapacityUnits',
        'ConsumedWriteCapacityUnits',
        'ReadThrottleEvents',
        'WriteThrottleEvents',
      ].map(ofTable),
    ],
    ['Table: p99 of a request (ms)', 'p99', ofOperations('SuccessfulRequestLatency')],
    ['Table: system errors', 'Sum', ofOperations('SystemErrors')],
  ],
];

const height = 6;
const gridWidth = 24;

const widgets = rows.flatMap((row, number) => {
  const width = gridWidth / row.length;
  return row.map(([title, stat, metrics, others], column) => ({
    type: 'metric',
    ...{ x: column * width, y: number * height, width, height },
    properties: { title, region: '${AWS::Region}', stat, period: 60, ...others, metrics },
  }));
});

/** One page for a person on call: the API, then the functions, then the table. */
export const dashboard = {
  Resources: {
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: {
        DashboardName: '${self:service}-${sls:stage}',
        // Parameters are numbers: without quotes.
        DashboardBody: {
          'Fn::Sub': JSON.stringify({ widgets }).replaceAll(/"(\$\{param:\w+\})"/g, '$1'),
        },
      },
    },
  },
};
