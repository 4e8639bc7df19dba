import type { HttpResponse } from '../support/http-client.ts';
import { workInParallel } from './in-parallel.ts';

const deletionsAtOnce = 16;

/** Remembers which books were made, by whatever request, so that they and no others are deleted in the end. */
export class OwnBooks {
  readonly #parent: OwnBooks | undefined;
  #ids: Set<number> = new Set();

  /** @param parent - who takes over what cannot be deleted */
  constructor(parent?: OwnBooks) {
    this.#parent = parent;
  }

  /**
   * Looks whether an answer says that a book has come or gone. A book that should have been refused counts as well.
   *
   * @param answer - any answer of the service
   */
  record(answer: HttpResponse): void {
    const { method, path } = answer.request;
    if (method === 'POST' && path.startsWith('/book') && answer.status < 300) {
      const id = readBookId(answer.body);
      if (id !== undefined) this.#ids.add(id);
    }
    if (method === 'DELETE' && answer.status === 200) {
      this.#ids.delete(Number(path.slice('/book/'.length)));
    }
  }

  /**
   * Deletes all books that are left.
   *
   * @param deleteBook - asks the service to delete one
   * @returns the ids of those that are still there
   */
  async deleteAll(deleteBook: (id: number) => Promise<HttpResponse>): Promise<readonly number[]> {
    await workInParallel(this.#ids, deletionsAtOnce, async (id) => {
      const answer = await deleteBook(id).catch(() => undefined);
      if (answer?.status === 200 || answer?.status === 404) this.#ids.delete(id);
    });
    const left = [...this.#ids];
    if (this.#parent !== undefined) this.#parent.#ids = this.#parent.#ids.union(this.#ids);
    return left;
  }
}

function readBookId(body: Buffer): number | undefined {
  try {
    const id = JSON.parse(body.toString()).data.id;
    return Number.isSafeInteger(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
