/** The floor: the same response to every request, and nothing to load. */
export const handler = async () => ({
  statusCode: 200,
  headers: { 'Content-Type': 'application/json' },
  body: '{"status":200,"message":"","data":null}',
});
