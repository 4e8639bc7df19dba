import { createBook, expectCreated, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const contentTypes: readonly (string | undefined)[] = [
  undefined,
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=iso-8859-1',
  'text/plain',
  'text/plain; charset=utf-16',
  'application/octet-stream',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'image/png',
];

/** The Content-Type of a request says nothing to the service. */
export const contentTypeCases = defineCases(
  'content-type',
  contentTypes.map(
    (contentType): CaseDefinition => ({
      name: `A body ${contentType === undefined ? 'without a Content-Type' : `as ${contentType}`} is read as JSON`,
      reference: 'specification 2.1',
      ...(contentType === undefined && { gatewayQuestion: gatewayQuestions.noContentType }),
      run: async (context) => {
        const headers: Record<string, string> =
          contentType === undefined ? {} : { 'Content-Type': contentType };
        const fields = { title: 'Café 📚', author: 'é', year: 1965 };
        const created = await context.call('POST', '/book', fields, headers);
        await expectStored(context, expectCreated(created, fields));
        const { id } = await createBook(context);
        const updated = await context.call('PUT', `/book/${id}`, fields, headers);
        expectAnswer(updated, outcomes.bookUpdated, { id, ...fields });
        const noText = Buffer.from('{"title":"\xe9"}', 'latin1');
        expectAnswer(await context.call('POST', '/book', noText, headers), outcomes.invalidInput);
        expectAnswer(await context.call('PUT', `/book/${id}`, 'title=x', headers), outcomes.invalidInput);
        await expectStored(context, { id, ...fields });
      },
    }),
  ),
);
