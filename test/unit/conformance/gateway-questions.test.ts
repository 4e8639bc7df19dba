import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { gatewayQuestions } from '../../conformance/gateway-questions.ts';
import { conformanceCases } from '../../conformance/suite.ts';

const operations = readFileSync('docs/operations.md', 'utf8');

test.each(Object.values(gatewayQuestions))('operations.md has the question: %s', (question) => {
  expect(operations).toContain(`| ${question} |`);
});

test('each question is asked by a case', () => {
  const asked = new Set(conformanceCases.map(({ gatewayQuestion }) => gatewayQuestion).filter(Boolean));
  expect(asked).toEqual(new Set(Object.values(gatewayQuestions)));
});

test('cases that only the service decides are not marked', () => {
  const groups = [
    'authorization',
    'create-book',
    'update-book',
    'delete-book',
    'list-books',
    'paging',
    'token',
  ];
  const marked = conformanceCases.filter(({ gatewayQuestion }) => gatewayQuestion !== undefined);
  expect(marked.filter(({ group }) => groups.includes(group))).toEqual([]);
  expect(marked.length).toBeLessThan(conformanceCases.length / 4);
});
