/** The header in which API Gateway sends its id of a request. */
export const requestIdHeader = 'x-amzn-RequestId';
