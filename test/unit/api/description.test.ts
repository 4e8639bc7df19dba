import { describe, expect, test } from 'vitest';
import { outcomes } from '../../../lib/http/outcomes.ts';
import { gatewayResponses } from '../../../serverless/deploy/gateway-responses.ts';
import { loadLocalConfig } from '../../../serverless/local/local-config.ts';
import { readDescription } from '../../../tools/api/description-file.ts';
import { description, operations, type ResponseDescription } from '../../support/contract/description.ts';
import { decodeToken, forgeToken } from '../../support/forge-token.ts';

/** The one response without a body, and so without an example. */
const { notModified: _, ...withBody } = outcomes;

const described = new Set(
  [description.components.responses, ...operations.map(({ responses }) => responses)]
    .flatMap((responses) => Object.values(responses))
    .flatMap(textsOf),
);

describe('openapi.yaml', () => {
  test('its generated part is what the tables in lib/ say; `npm run api` writes it', async () => {
    const { text, current } = await readDescription();

    expect(text).toBe(current);
  });

  test('its example token opens nothing: it has expired, and is not signed with the local secret', () => {
    const [token = ''] = JSON.stringify(description).match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [];
    const { claims } = decodeToken(token);
    const { signingSecret } = loadLocalConfig('/nowhere', {});

    expect((claims as { readonly exp: number }).exp).toBeLessThan(Date.now() / 1000);
    expect(token).not.toBe(
      forgeToken({ header: { alg: 'HS256', typ: 'JWT' }, claims, secret: signingSecret }),
    );
  });

  test('every outcome of the functions and of API Gateway is in it, and every status and message in it is one', () => {
    const outcomesOfAll = [...Object.values(withBody), ...Object.values(gatewayResponses)];
    const possible = new Set(outcomesOfAll.map(({ status, message }) => `${status} ${message}`));

    expect([...described].sort()).toEqual([...possible].sort());
  });

  test('each example of an answer has the status that it is under', () => {
    for (const { route, responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        for (const text of textsOf(response)) expect(text, route).toMatch(new RegExp(`^${status} `));
      }
    }
  });
});

/** Status and message of each example. */
function textsOf({ content }: ResponseDescription): string[] {
  return Object.values(content?.['application/json'].examples ?? {}).map(({ value }) => {
    const { status, message } = value as { readonly status: number; readonly message: string };
    return `${status} ${message}`;
  });
}
