import fc from 'fast-check';
import { expect } from 'vitest';
import { type Call, settings } from '../../support/load-handlers.ts';
import {
  anyLogin,
  type BookRequest,
  type IdChoice,
  type Login,
  listRequest,
  oneBookRequest,
  type Precondition,
  type PreconditionChoice,
  type RequestChoice,
} from './book-request.ts';
import { applyRequest, type Catalog, outcomeOfLogin } from './catalog.ts';
import { chosenIn, describeRequest, expectedResponse, send } from './client.ts';
import { type Exchange, explainResponses } from './explain-responses.ts';

/** What the model knows, between commands. */
interface Model {
  /** The last id that was given out before the sequence. */
  readonly idsBefore: number;
  catalog: Catalog;
}

type Command = fc.AsyncCommand<Model, Call>;

/** One client, one request. */
class SingleRequest implements Command {
  readonly #choice: RequestChoice;

  constructor(choice: RequestChoice) {
    this.#choice = choice;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, call: Call): Promise<void> {
    const { catalog } = model;
    const request = chooseBook(this.#choice, model, tagsIn(catalog));
    const response = await send(call, request);
    const { id, tag } = chosenIn(response);
    const skipped = (id ?? 0) - catalog.lastId - 1;
    const isNext = skipped >= 0 && skipped <= catalog.spareIds;
    const effect = applyRequest(catalog, request, { id: isNext ? id : undefined, tag });
    model.catalog = effect.catalog;
    expect(response).toEqual(expectedResponse(request, effect));
  }

  toString(): string {
    return describeRequest(this.#choice);
  }
}

/**
 * Several clients at the same time, each with some requests one after the other. Their responses must be those of some
 * order of all the requests, and what a list shows afterwards what that order leaves behind.
 */
class ConcurrentClients implements Command {
  readonly #clients: readonly (readonly RequestChoice[])[];

  constructor(clients: readonly (readonly RequestChoice[])[]) {
    this.#clients = clients;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, call: Call): Promise<void> {
    let clock = 0;
    const exchanges: Exchange[] = [];
    const exchange = async (request: BookRequest) => {
      clock += 1;
      const invoked = clock;
      const response = await send(call, request);
      clock += 1;
      exchanges.push({ invoked, returned: clock, request, response });
      return response;
    };
    await Promise.all(
      this.#clients.map(async (choices) => {
        const seen = tagsIn(model.catalog);
        for (const choice of choices) {
          const request = chooseBook(choice, model, seen);
          const { tag } = chosenIn(await exchange(request));
          const id = 'id' in request && typeof request.id === 'number' ? request.id : 0;
          if (tag !== undefined && seen.get(id)?.at(-1) !== tag) seen.set(id, [...(seen.get(id) ?? []), tag]);
        }
      }),
    );
    await exchange({ type: 'list', access: 'HS256', after: 0, limit: Number.POSITIVE_INFINITY });

    const after = explainResponses(model.catalog, exchanges);
    if (after === undefined) {
      const told = exchanges.map(({ response: { envelope }, ...sent }) =>
        describeRequest({ ...sent, envelope }),
      );
      expect.fail(`no order of the requests explains their responses:\n${told.join('\n')}`);
    }
    model.catalog = after;
  }

  toString(): string {
    return `at the same time [${this.#clients.map((requests) => requests.map(describeRequest).join(', then ')).join(' | ')}]`;
  }
}

/** A client that asks for a token, and uses it when it gets one. */
class LogIn implements Command {
  readonly #login: Login;

  constructor(login: Login) {
    this.#login = login;
  }

  check(): boolean {
    return true;
  }

  async run({ catalog }: Model, call: Call): Promise<void> {
    const outcome = outcomeOfLogin(this.#login);
    const response = await call('POST', '/token', { body: this.#text() });
    const data = outcome.status === 200 ? { token: expect.any(String) } : null;
    expect(response.envelope).toEqual({ ...outcome, data });
    expect(response.status).toBe(outcome.status);
    if (outcome.status !== 200) return;

    const { token } = response.envelope.data as { token: string };
    const list = await call('GET', '/books', { headers: { Authorization: token } });
    const whole = { type: 'list', access: 'HS256', after: 0, limit: Number.POSITIVE_INFINITY } as const;
    expect(list.envelope.data).toEqual(applyRequest(catalog, whole).data);
  }

  #text(): string {
    return this.#login.text(settings.AUTH_USERNAME, settings.AUTH_PASSWORD);
  }

  toString(): string {
    return `log in with ${this.#login.text('the username', 'the password')}`;
  }
}

/** Every kind of command, those that change books most often. */
export const anyCommand: fc.Arbitrary<Command>[] = [
  fc.oneof(
    { weight: 12, arbitrary: oneBookRequest.map((choice) => new SingleRequest(choice)) },
    { weight: 3, arbitrary: listRequest.map((choice) => new SingleRequest(choice)) },
    {
      weight: 3,
      arbitrary: fc
        .array(fc.array(oneBookRequest, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 })
        .map((clients) => new ConcurrentClients(clients)),
    },
    { weight: 1, arbitrary: anyLogin.map((login) => new LogIn(login)) },
  ),
];

/** The entity tags that a client has seen of each book, the last one last. */
type SeenTags = Map<number, readonly string[]>;

function tagsIn({ books }: Catalog): SeenTags {
  return new Map([...books].map(([id, { tags }]) => [id, tags]));
}

function chooseBook(choice: RequestChoice, model: Model, seen: SeenTags): BookRequest {
  if (choice.type === 'create') return choice;
  if (choice.type === 'list') return { ...choice, after: chooseId(choice.after, model) };
  const id = chooseId(choice.id, model);
  const tags = (typeof id === 'number' && seen.get(id)) || [];
  return { ...choice, id, precondition: choice.precondition && chooseTags(choice.precondition, tags) };
}

function chooseTags(choice: PreconditionChoice, seen: readonly string[]): Precondition {
  if ('header' in choice) {
    return { header: choice.header, strong: choice.header === '*' ? '*' : [], weak: [] };
  }
  const [strong, weak]: [string[], string[]] = [[], []];
  const written = choice.map((tag) => {
    const chosen = tag === 'foreign' ? undefined : seen.at(tag === 'seen earlier' ? -2 : -1);
    (tag.startsWith('weak') ? weak : strong).push(chosen ?? '"foreign"');
    return `${tag.startsWith('weak') ? 'W/' : ''}${chosen ?? '"foreign"'}`;
  });
  return { header: written.join(', '), strong, weak };
}

function chooseId(choice: IdChoice, { idsBefore, catalog: { lastId } }: Model): number | string {
  if ('text' in choice) return choice.text;
  if ('next' in choice) return lastId + choice.next;
  const created = lastId - idsBefore;
  return created === 0 ? lastId + 1 : idsBefore + 1 + (choice.created % created);
}
