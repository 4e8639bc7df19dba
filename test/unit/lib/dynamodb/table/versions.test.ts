import fc from 'fast-check';
import { v7 } from 'uuid';
import { expect, test, vi } from 'vitest';
import { createVersion, measureClockSkew } from '../../../../../lib/dynamodb/table/versions.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const now = Date.UTC(2026, 10, 23);

const setClock = (time: number) => vi.spyOn(Date, 'now').mockReturnValue(time);

test('a version is above those that are given, up to a day ahead, whatever the clock says', () => {
  setClock(now);
  const time = fc.integer({ min: now - 2 * dayMs, max: now + dayMs - 1 });

  fc.assert(
    fc.property(fc.array(time, { minLength: 1, maxLength: 3 }), (times) => {
      const earlier = times.map((msecs) => v7({ msecs }));

      const version = createVersion(earlier);

      for (const each of earlier) expect(version > each).toBe(true);
    }),
    { examples: [[[now + dayMs - 1]]] },
  );
});

test.each([
  ['a version a day ahead', v7({ msecs: now + dayMs })],
  ['a UUID of another version', v7({ msecs: now + hourMs }).replace('-7', '-4')],
  ['a version within another text', v7({ msecs: now + hourMs }).slice(0, 13) + v7({ msecs: now + hourMs })],
  ['a text that is no version', 'zzzzzzzz-zzzz-7zzz-8000-000000000000'],
  ['an empty text', ''],
  ['nothing', undefined],
])('%s is not followed', (_name, earlier) => {
  setClock(now);

  expect(createVersion([earlier]).slice(0, 13)).toBe(v7({ msecs: now }).slice(0, 13));
  expect(measureClockSkew(earlier)).toBe(0);
});

test.each([
  ['ahead', hourMs, hourMs],
  ['nearly a day ahead', dayMs - 1, dayMs - 1],
  ['just now', 0, 0],
  ['before', -hourMs, 0],
])('our clock is behind that of a version by its time: made %s', (_name, ageMs, skewMs) => {
  setClock(now);

  expect(measureClockSkew(v7({ msecs: now + ageMs }))).toBe(skewMs);
});

test('a clock that is behind goes on from where the other one was', () => {
  setClock(now);

  expect(createVersion([], hourMs).slice(0, 13)).toBe(v7({ msecs: now + hourMs }).slice(0, 13));
});

test('a clock that was an hour ahead for a moment leaves no trace in later versions', () => {
  setClock(now + hourMs);
  const ahead = createVersion([]);
  setClock(now);

  expect(createVersion([]) < ahead).toBe(true);
});
