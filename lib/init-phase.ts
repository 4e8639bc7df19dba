/**
 * Awaits what an instance needs before it serves. Lambda's runtime prints an error of the INIT phase with all members and
 * causes, and those of the SDK hold DynamoDB's whole response, so only name, message and stack go there.
 */
export async function initialize<Value>(opening: Promise<Value>): Promise<Value> {
  try {
    return await opening;
  } catch (error) {
    const { name, message, stack } = error as Error;
    throw Object.assign(new Error(message), { name, stack });
  }
}
