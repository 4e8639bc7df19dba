import { createHash, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { parseBody, respond, sign } from './serve.ts';

const lifetimeSeconds = 15 * 60;
const header = encode({ alg: 'HS256', typ: 'JWT' });

export async function createToken(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const { username = '', password = '' } = parseBody(event) ?? { username: null };
  if (typeof username !== 'string' || typeof password !== 'string') return respond(400, 'Invalid request payload');
  const sameUsername = timingSafeEqual(digest(username), digest(process.env.AUTH_USERNAME ?? ''));
  const samePassword = timingSafeEqual(digest(password), digest(process.env.AUTH_PASSWORD ?? ''));
  if (!sameUsername || !samePassword) return respond(401, 'Invalid credentials');
  const input = `${header}.${encode({ exp: Math.floor(Date.now() / 1000) + lifetimeSeconds })}`;
  const token = `${input}.${sign(input).toString('base64url')}`;
  return respond(200, 'Token generated successfully', { token });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
