import { createHmac, timingSafeEqual } from 'node:crypto';
import { answer } from './answers.ts';
import type { PeerAnswer } from './endpoint.ts';

const secret = process.env.SECRET_TOKEN ?? '';
const lifetimeSeconds = 15 * 60;
const header = encode({ alg: 'HS256', typ: 'JWT' });

/**
 * Checks a token by hand, without a library: the least that does the work. Every peer uses it, frameworks with a token
 * check of their own included, because it is the fastest.
 *
 * @param token - the value of `Authorization`
 * @returns the refusal, or `undefined` for a valid token
 */
export function refuseToken(token: string | undefined): PeerAnswer | undefined {
  if (!token) return answer(401, 'Authorization token required');
  return isValid(token) ? undefined : answer(401, 'Invalid token');
}

/** Signs a token that is valid for 15 minutes. */
export function signToken(): string {
  const input = `${header}.${encode({ exp: Math.floor(Date.now() / 1000) + lifetimeSeconds })}`;
  return `${input}.${sign(input).toString('base64url')}`;
}

function isValid(token: string): boolean {
  const parts = token.split('.');
  const [head = '', claims = '', signature = ''] = parts;
  if (parts.length !== 3) return false;
  try {
    if (decode(head).alg !== 'HS256') return false;
    const given = Buffer.from(signature, 'base64url');
    const expected = sign(`${head}.${claims}`);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    const { exp, nbf } = decode(claims);
    const now = Date.now() / 1000;
    return !(typeof exp === 'number' && exp <= now) && !(typeof nbf === 'number' && nbf > now);
  } catch {
    return false;
  }
}

function sign(input: string): Buffer {
  return createHmac('sha256', secret).update(input).digest();
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
