import type { ConformanceCase } from './case.ts';
import { authorizationCases, signedTokenCases } from './cases/authorization.ts';
import { contentTypeCases, invalidBodyCases } from './cases/bodies.ts';
import { bookIdCases, createBookCases, deleteBookCases, updateBookCases } from './cases/books.ts';
import { compressionCases } from './cases/compression.ts';
import { concurrencyCases } from './cases/concurrency.ts';
import { conditionalRequestCases } from './cases/conditional-requests.ts';
import { crossOriginCases } from './cases/cross-origin.ts';
import { textCases, yearCases } from './cases/fields.ts';
import { idempotencyKeyCases } from './cases/idempotency-keys.ts';
import { listBooksCases, pagingCases } from './cases/lists.ts';
import { sizeCases } from './cases/sizes.ts';
import { tokenEndpointCases } from './cases/token-endpoint.ts';
import { unknownPathCases } from './cases/unknown-paths.ts';

/** Every case, group after group. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...tokenEndpointCases,
  ...authorizationCases,
  ...signedTokenCases,
  ...createBookCases,
  ...updateBookCases,
  ...deleteBookCases,
  ...bookIdCases,
  ...invalidBodyCases,
  ...contentTypeCases,
  ...yearCases,
  ...textCases,
  ...sizeCases,
  ...listBooksCases,
  ...pagingCases,
  ...idempotencyKeyCases,
  ...conditionalRequestCases,
  ...unknownPathCases,
  ...crossOriginCases,
  ...compressionCases,
  ...concurrencyCases,
];

/** The names of all groups, in the order in which they run. */
export const groupNames: readonly string[] = [...new Set(conformanceCases.map(({ group }) => group))];
