import { createHash, timingSafeEqual } from 'node:crypto';
import { answer } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { signToken } from '../token.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();
const expectedUsername = digest(process.env.AUTH_USERNAME ?? '');
const expectedPassword = digest(process.env.AUTH_PASSWORD ?? '');

export const endpoint: PeerEndpoint = {
  method: 'POST',
  path: '/token',
  public: true,
  async handle({ body }) {
    const { username = '', password = '' } = (body ?? {}) as Record<string, unknown>;
    if (typeof body !== 'object' || typeof username !== 'string' || typeof password !== 'string') {
      return answer(400, 'Invalid request payload');
    }
    const sameUsername = timingSafeEqual(digest(username), expectedUsername);
    const samePassword = timingSafeEqual(digest(password), expectedPassword);
    if (!sameUsername || !samePassword) return answer(401, 'Invalid credentials');
    return answer(200, 'Token generated successfully', { token: signToken() });
  },
};
