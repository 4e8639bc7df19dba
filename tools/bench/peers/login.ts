import { timingSafeEqual } from 'node:crypto';
import { type PeerEndpoint, respond } from './endpoint.ts';
import { digest, signToken } from './token.ts';

export const createToken: PeerEndpoint = {
  method: 'POST',
  path: '/token',
  public: true,
  async handle({ body }) {
    const { username = '', password = '' } = (body ?? {}) as Record<string, unknown>;
    if (typeof body !== 'object' || typeof username !== 'string' || typeof password !== 'string') {
      return respond(400, 'Invalid request payload');
    }
    const sameUsername = timingSafeEqual(digest(username), digest(process.env.AUTH_USERNAME ?? ''));
    const samePassword = timingSafeEqual(digest(password), digest(process.env.AUTH_PASSWORD ?? ''));
    if (!sameUsername || !samePassword) return respond(401, 'Invalid credentials');
    return respond(200, 'Token generated successfully', { token: signToken() });
  },
};
