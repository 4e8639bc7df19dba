// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the framework and CloudFormation replace these
import { functionNames, toLogicalId } from '../functions.ts';
import { tableName } from './roles.js';

/** The operations on the table, as CloudWatch names them. */
const tableOperations = ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'TransactWriteItems'];

const apiName = '${sls:stage}-${self:service}';
const ofApi = (metric) => ['AWS/ApiGateway', metric, 'ApiName', apiName, 'Stage', '${sls:stage}'];
const ofTable = (metric) => ['AWS/DynamoDB', metric, 'TableName', '${TableName}'];
const ofOperations = (metric) =>
  tableOperations.map((name) => [...ofTable(metric), 'Operation', name, { label: name }]);
const ofFunctions = (metric) =>
  functionNames.map((label) => {
    const reference = `\${${toLogicalId(label)}LambdaFunction}`;
    return ['AWS/Lambda', metric, 'FunctionName', reference, { label }];
  });
const ofStatuses = ['5xx', 401, 429].map((status) => ['${self:service}-${sls:stage}', `Status${status}`]);
const ofAccount = ['AWS/Lambda', 'ClaimedAccountConcurrency', { label: 'the account, with reserved ones' }];
const errorRate = [
  [{ expression: 'failed / requests', label: 'error rate' }],
  ['${self:service}-${sls:stage}', 'Status5xx', { id: 'failed', visible: false }],
  [...ofApi('Count'), { id: 'requests', visible: false }],
];
const latencies = [[...ofApi('Latency'), { stat: 'p50' }], ofApi('Latency')];
const unitsOfTable = ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'];
const throttlesOfTable = ['ReadThrottleEvents', 'WriteThrottleEvents'];
const alarmAt = (label, value) => ({ annotations: { horizontal: [{ label, value }] } });

/** Title, statistic, metrics and further properties of each widget, row by row. */
const rows = [
  [
    ['Requests a minute', 'Sum', ['Count', '4XXError'].map(ofApi)],
    ['5xx, 401 and 429 a minute', 'Sum', ofStatuses],
    ['Error rate (5xx)', 'Sum', errorRate, alarmAt('alarm', '${param:maxErrorRate}')],
    ['Latency (ms)', 'p99', latencies, alarmAt('alarm (p99)', '${param:maxLatencyMs}')],
  ],
  [
    ['Functions: errors', 'Sum', ofFunctions('Errors')],
    ['Functions: throttles', 'Sum', ofFunctions('Throttles')],
    ['Functions: p99 duration (ms)', 'p99', ofFunctions('Duration')],
    [
      'Functions: instances',
      'Maximum',
      [...ofFunctions('ConcurrentExecutions'), ofAccount],
      alarmAt('alarm (account)', '${param:maxConcurrency}'),
    ],
  ],
  [
    ['Table: consumed capacity units a minute', 'Sum', [...unitsOfTable, ...throttlesOfTable].map(ofTable)],
    ['Table: p99 of a request (ms)', 'p99', ofOperations('SuccessfulRequestLatency')],
    ['Table: system errors', 'Sum', ofOperations('SystemErrors')],
  ],
];

const widgets = rows.flatMap((row, number) => {
  const width = 24 / row.length; // the grid has 24 columns
  const height = 6;
  return row.map(([title, stat, metrics, others], column) => ({
    type: 'metric',
    x: column * width,
    y: number * height,
    width,
    height,
    properties: { title, region: '${AWS::Region}', stat, period: 60, ...others, metrics },
  }));
});

/** Parameters are numbers: without quotes. */
const body = JSON.stringify({ widgets }).replaceAll(/"(\$\{param:\w+\})"/g, '$1');

/** One page for a person on call: the API, then the functions, then the table. */
export const dashboard = {
  Resources: {
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: {
        DashboardName: '${self:service}-${sls:stage}',
        DashboardBody: { 'Fn::Sub': [body, { TableName: tableName }] },
      },
    },
  },
};
