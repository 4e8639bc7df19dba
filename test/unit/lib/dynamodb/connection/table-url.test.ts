import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTableUrl, regionOf } from '../../../../../lib/dynamodb/connection/table-url.ts';

test('the URL of a table may have any table name that DynamoDB allows', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\w.-]{3,255}$/), (tableName) => {
      expect(parseTableUrl(`http://localhost:8000/${tableName}`)).toEqual({
        endpoint: 'http://localhost:8000',
        region: 'us-east-1',
        tableName,
      });
    }),
    { examples: [['abc'], ['a'.repeat(255)]] },
  );
});

const paths = ['', '/', '/ab', '/books/', '/my/books', '/b%6Foks', '/książki', '/books?x', '/books#x'];

test.each([
  ...[
    'books',
    '127.0.0.1:8000/books',
    'ftp://127.0.0.1/books',
    'xhttp://127.0.0.1/books',
    'file:///books',
    'mysql://db/books',
  ],
  ...[...paths, `/${'a'.repeat(256)}`].map((path) => `http://127.0.0.1:8000${path}`),
  ...['user@', 'user:secret@', ':secret@'].map((user) => `http://${user}127.0.0.1:8000/books`),
  'http://127.0.0.1:99999/books',
  'http://[::1/books',
])('%j is not the URL of a table', (url) => {
  expect(parseTableUrl(url)).toBeUndefined();
});

/** One region of each public partition. */
const regions = ['eu-west-1', 'us-gov-west-1', 'cn-north-1', 'eusc-de-east-1'];

const either = [false, true];

test.each(
  regions.flatMap((Region) =>
    either.flatMap((UseFIPS) => either.map((UseDualStack) => ({ Region, UseFIPS, UseDualStack }))),
  ),
)("each endpoint of the SDK's rules is one of AWS: $Region, FIPS $UseFIPS, dual-stack $UseDualStack", (parameters) => {
  const { endpointProvider } = new DynamoDBClient({ region: parameters.Region }).config;
  const account = { AccountId: '123456789012', AccountIdEndpointMode: 'preferred' } as const;

  for (const more of [{}, account]) {
    const { url } = endpointProvider({ ...parameters, ...more });
    expect(regionOf(url.href), url.href).toBe(parameters.Region);
  }
});

test.each([
  ['https://dynamodb-fips.us-east-1.api.aws', 'us-east-1'],
  ['https://123456789012.ddb.us-east-1.amazonaws.com', 'us-east-1'],
  ['https://vpce-1a2b3c4d-5e6f.dynamodb.us-east-1.vpce.amazonaws.com', 'us-east-1'],
  ['https://vpce-1a2b3c4d-5e6f-us-east-1a.dynamodb.us-east-1.vpce.amazonaws.com', 'us-east-1'],
  ['https://vpce-1a2b3c4d-5e6f.dynamodb-fips.us-gov-west-1.vpce.amazonaws.com', 'us-gov-west-1'],
  ['https://DynamoDB.eu-west-1.AmazonAWS.com', 'eu-west-1'],
  ['https://dynamodb.eu-west-1.amazonaws.com.', 'eu-west-1'],
  ['http://127.0.0.1:8000', 'eu-north-1'],
  ['http://dynamodb:8000', 'eu-north-1'],
  ['http://dynamodb.us-east-1.localhost:4566', 'eu-north-1'],
  ['http://ec2-198-51-100-1.eu-west-1.compute.amazonaws.com:8000', 'eu-north-1'],
  ['https://dynamodb.eu-west-1.myamazonaws.com', 'eu-north-1'],
  ['https://dynamodb.eu-west-1.amazonawsxcom', 'eu-north-1'],
  ['https://evil-dynamodb.eu-west-1.amazonaws.com', 'eu-north-1'],
  ['https://dynamodbxeu-west-1.amazonaws.com', 'eu-north-1'],
])('the region of %s is %s for an instance in eu-north-1', (endpoint, region) => {
  expect(parseTableUrl(`${endpoint}/books`, 'eu-north-1')?.region).toBe(region);
});
