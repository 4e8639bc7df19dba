import type { ConformanceCase } from './case.ts';
import { authorizationCases } from './cases/authorization.ts';
import { bookIdCases } from './cases/book-ids.ts';
import { compressionCases } from './cases/compression.ts';
import { concurrencyCases } from './cases/concurrency.ts';
import { conditionalRequestCases } from './cases/conditional-requests.ts';
import { contentTypeCases } from './cases/content-type.ts';
import { createBookCases } from './cases/create-book.ts';
import { crossOriginCases } from './cases/cross-origin.ts';
import { deleteBookCases } from './cases/delete-book.ts';
import { idempotencyKeyCases } from './cases/idempotency-keys.ts';
import { invalidBodyCases } from './cases/invalid-bodies.ts';
import { listBooksCases } from './cases/list-books.ts';
import { pagingCases } from './cases/paging.ts';
import { signedTokenCases } from './cases/signed-tokens.ts';
import { sizeCases } from './cases/sizes.ts';
import { textCases } from './cases/text.ts';
import { tokenEndpointCases } from './cases/token-endpoint.ts';
import { typedClientCases } from './cases/typed-client.ts';
import { unknownPathCases } from './cases/unknown-paths.ts';
import { updateBookCases } from './cases/update-book.ts';
import { yearCases } from './cases/year.ts';

/** Every case, group after group. */
export const conformanceCases: readonly ConformanceCase[] = [
  ...tokenEndpointCases,
  ...authorizationCases,
  ...signedTokenCases,
  ...createBookCases,
  ...invalidBodyCases,
  ...yearCases,
  ...textCases,
  ...contentTypeCases,
  ...listBooksCases,
  ...updateBookCases,
  ...deleteBookCases,
  ...bookIdCases,
  ...idempotencyKeyCases,
  ...conditionalRequestCases,
  ...unknownPathCases,
  ...crossOriginCases,
  ...sizeCases,
  ...compressionCases,
  ...concurrencyCases,
  ...pagingCases,
  ...typedClientCases,
];

/** The names of all groups, in the order in which they run. */
export const groupNames: readonly string[] = [...new Set(conformanceCases.map(({ group }) => group))];

/** Which cases to run. */
export interface Selection {
  /** Groups, and names of cases, to leave out. */
  readonly without?: readonly string[] | undefined;
  /** Whether the service's SECRET_TOKEN is known. */
  readonly secretKnown: boolean;
  /** Whether the catalog is too large to be read as a whole again and again. */
  readonly largeCatalog: boolean;
}

/**
 * Splits the suite into the cases to run and the others.
 *
 * @param selection - what is wanted, and what is known
 */
export function selectCases(selection: Selection): {
  readonly selected: readonly ConformanceCase[];
  readonly leftOut: readonly ConformanceCase[];
} {
  const isSelected = ({ name, group, needsSecret, readsWholeList }: ConformanceCase) =>
    !selection.without?.includes(group) &&
    !selection.without?.includes(name) &&
    (selection.secretKnown || !needsSecret) &&
    !(selection.largeCatalog && readsWholeList);
  const { selected = [], leftOut = [] } = Object.groupBy(conformanceCases, (conformanceCase) =>
    isSelected(conformanceCase) ? 'selected' : 'leftOut',
  );
  return { selected, leftOut };
}
