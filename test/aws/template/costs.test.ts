import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findResources, readTemplate } from './template.ts';

const template = readTemplate();
const propertiesOf = (type: string) =>
  Object.values(findResources(template, `AWS::${type}`)).map(({ Properties }) => Properties);

const read = (document: string) => readFileSync(document, 'utf8').replaceAll(/\s+/g, ' ');
const operations = read('docs/operations.md');

/** Finds the numbers in a sentence or a row of a document. */
const find = (sentence: RegExp, document = operations) => sentence.exec(document)?.slice(1).map(Number);

/** In dollars, from the table of prices. */
const monthOf = (name: string) => Number(find(new RegExp(`\\| A month of ${name} \\| \\$([\\d.]+) \\|`)));

/** The costs of a month without traffic, and those of the metrics that exist in hours with accesses, in dollars. */
function costOfMonth(): readonly number[] {
  const metricsOfAlarms = propertiesOf('CloudWatch::Alarm').flatMap(({ Metrics = [{ MetricStat: {} }] }) =>
    Metrics.filter((metric: object) => 'MetricStat' in metric),
  );
  const idle =
    propertiesOf('SecretsManager::Secret').length * monthOf('a secret') +
    propertiesOf('CloudWatch::Dashboard').length * monthOf('a dashboard') +
    metricsOfAlarms.length * monthOf('a metric of an alarm');
  const custom = propertiesOf('Logs::MetricFilter').length * monthOf('a metric of the access log');
  return [idle, custom].map((dollars) => Number(dollars.toFixed(2)));
}

test('the costs of a month without traffic follow from the template', () => {
  const sentence = /A month without traffic costs \$([\d.]+) .* two more metrics exist, which cost \$([\d.]+) a month/;
  expect(find(sentence), 'the costs of a month without traffic in docs/operations.md').toEqual(costOfMonth());
  const [idle = Infinity] = costOfMonth();
  expect(find(/A temporary stage\*\* .* costs as much, \$([\d.]+) an hour/)).toEqual([Number((idle / 730).toFixed(2))]);
});

test('the costs of requests are those of the sampling rule, and those of the probe are those of its schedule', () => {
  const [{ SamplingRule }] = propertiesOf('XRay::SamplingRule');
  expect(find(/\| A million traces of X-Ray, of (\d+) % of the requests \|/)).toEqual([SamplingRule.FixedRate * 100]);

  const { ProbeServiceEventsRuleSchedule1 } = readTemplate('dev-with-all').Resources;
  const [minutes] = find(/It runs every (\d+) minutes, has an alarm, and costs/) ?? [];
  expect(ProbeServiceEventsRuleSchedule1?.Properties.ScheduleExpression).toBe(`rate(${minutes} minutes)`);
});

test('the worst load of a stage counts a trace for each request, because clients may ask for it', () => {
  const [rate = 0] = find(/`prod` accepts (\d+) requests a second/) ?? [];
  const [share = 0, trace = 0] = find(/\| A million traces of X-Ray, of (\d+) % of the requests \| \$(\d+) \|/) ?? [];
  const millions = (rate * 86_400) / 1e6;
  const costOfDay = (row: RegExp) => Math.round((Number(find(row)) + trace * (1 - share / 100)) * millions);

  const worst = ['GETs of a book', 'pages of 1,000 books'].map((load) =>
    Number(find(new RegExp(`\\| ${rate} ${load} a second \\|[^|]*\\| \\$(\\d+) \\|`))),
  );

  const sums = [
    /\| GET \/book\/\{id\} \|.*?\*\*\$([\d.]+)\*\*/,
    /\| GET \/books of 1,000 books \|.*?\*\*\$([\d.]+)\*\*/,
  ];
  expect(worst, 'the worst loads in docs/operations.md').toEqual(sums.map(costOfDay));
});

test('README.md has bounds of the same costs', () => {
  const [get = Infinity] = find(/\| GET \/book\/\{id\} \|.*?\*\*\$([\d.]+)\*\*/) ?? [];
  const [idle = Infinity, custom = Infinity] = costOfMonth();
  const bounds = find(
    /A million GETs cost under \$(\d+), and a month without traffic under \$(\d+) /,
    read('README.md'),
  );
  expect(bounds, 'the costs in README.md').toEqual([Math.ceil(get), expect.any(Number)]);
  expect(bounds?.[1]).toBeGreaterThan(idle + custom);
});
