import { type Capacity, coldStartCheck } from '../../test/simulators/metering-proxy.ts';
import prices from './prices.json' with { type: 'json' };

/** Dollars for a million calls. */
export interface Cost {
  readonly lambda: number;
  readonly dynamoDb: number;
  readonly apiGateway: number;
  readonly total: number;
}

const million = 1e6;

/**
 * What a million calls cost at the prices, and with the share of cold starts, of prices.json.
 *
 * @param memoryMb - the function's memory size
 * @param coldMs - the time of a first call with its INIT phase; Lambda bills both
 * @param warmMs - the time of any other call
 * @param capacity - what a call asks of DynamoDB
 */
export function costOf(memoryMb: number, coldMs: number, warmMs: number, capacity: Capacity): Cost {
  const cold = prices.coldStartShare;
  // Lambda bills whole milliseconds.
  const billedMs = cold * Math.ceil(coldMs) + (1 - cold) * Math.ceil(warmMs);
  const gbSeconds = million * (billedMs / 1000) * (memoryMb / 1024);
  const lambda = gbSeconds * prices.lambdaGbSecond + prices.lambdaMillionRequests;
  const checks = capacity.requests === 0 ? 0 : cold * coldStartCheck.readUnits;
  const dynamoDb =
    (capacity.readUnits + checks) * prices.dynamoDbMillionReadUnits +
    capacity.writeUnits * prices.dynamoDbMillionWriteUnits;
  const apiGateway = prices.apiGatewayMillionRequests;
  return { lambda, dynamoDb, apiGateway, total: lambda + dynamoDb + apiGateway };
}
