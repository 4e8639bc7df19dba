import type { TableLocation } from './client.ts';

/** "Naming rules and data types supported in Amazon DynamoDB". */
const tableNameText = /[a-zA-Z0-9_.-]{3,255}/;

/**
 * The region in a name of DynamoDB, in the domains of AWS's public partitions ("Amazon DynamoDB endpoints and quotas", "AWS
 * PrivateLink for DynamoDB"): `dynamodb.REGION.DOMAIN`, `ACCOUNT.ddb.REGION.DOMAIN`, `vpce-ID.dynamodb.REGION.vpce.DOMAIN`.
 * A test compares it with the SDK's rules. In an isolated partition, the region is that of `AWS_REGION`, which Lambda sets.
 */
const dynamoDbHost =
  /^(?:.+\.)?(?:dynamodb|ddb)(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws|api\.aws|api\.amazonwebservices)\b/;

/**
 * Parses DB_URL: a DynamoDB endpoint with the name of the table as its path, like `http://127.0.0.1:8000/books`.
 *
 * @param region - the region of an endpoint that is not AWS's own
 * @returns the location, or `undefined` when the text is not such a URL
 */
export function parseTableUrl(text: string, region = 'us-east-1'): TableLocation | undefined {
  const url = URL.parse(text);
  const tableName = url && tableNameText.exec(url.pathname)?.[0];
  const isWhole = tableName && url.href === `${url.origin}/${tableName}`;
  if (!isWhole || !url.protocol.startsWith('http')) return undefined;
  return { endpoint: url.origin, region: regionOf(url.origin) ?? region, tableName };
}

/** @returns the region of an endpoint of AWS, `undefined` for other engines */
export function regionOf(endpoint: string): string | undefined {
  return dynamoDbHost.exec(new URL(endpoint).hostname)?.[1];
}
