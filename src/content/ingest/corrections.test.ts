import { describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

const note = (text: unknown, date: unknown = '2026-11-25T13:00:00Z', kind: unknown = 'correction'): Json => ({
  kind,
  date,
  text,
});

async function notes(corrections: unknown) {
  const result = await ingestDocument(sanitizer, 'articles', wirePost({ id: 1, corrections }), plainContext);
  return result.kind === 'document' ? result.document.facts.corrections : result;
}
const html = async (text: string): Promise<string | undefined> => {
  const taken = await notes([note(text)]);
  return Array.isArray(taken) ? taken[0]?.html : undefined;
};

describe('a story’s corrections', () => {
  it('keep links and emphasis, and become one paragraph', async () => {
    expect(
      await html('<p>It is <strong>one</strong>,\n<em>not</em> <a href="https://a.example/x">two</a>.</p><p>Big</p>'),
    ).toBe(
      'It is <strong>one</strong>, <em>not</em> <a href="https://a.example/x" rel="noopener noreferrer">two</a>. Big',
    );
  });

  it('link to the site’s page instead of WordPress', async () => {
    expect(await html('See <a href="https://cms.example/article/one/">it</a>')).toContain('href="/article/one"');
  });

  it('are sorted newest first, across time zones', async () => {
    const taken = await notes([
      note('a', '2026-11-25T13:00:00Z'),
      note('b', '2026-11-25T09:00:00-05:00', 'clarification'),
      note('c', '2026-11-24 23:00:00'),
    ]);
    expect(taken).toEqual([
      { kind: 'clarification', date: '2026-11-25T14:00:00Z', html: 'b' },
      { kind: 'correction', date: '2026-11-25T13:00:00Z', html: 'a' },
      { kind: 'correction', date: '2026-11-24T23:00:00Z', html: 'c' },
    ]);
  });

  it.each([undefined, null, false, '', [], [note('')], [note(' <script>alert(1)</script> ')]])(
    'are absent for a story without any: %j',
    async (none) => expect(await notes(none)).toBeUndefined(),
  );

  it.each([
    ['a string instead of a list', 'x'],
    ['no text', [{ kind: 'correction', date: '2026-11-25T13:00:00Z' }]],
    ['an unknown kind', [note('x', undefined, 'update')]],
    ['an invalid date', [note('x', 'yesterday')]],
    ['a date that does not exist', [note('x', '2026-02-30T00:00:00Z')]],
  ])('with %s are dropped, and the story’s other corrections are kept', async (_what, wrong) => {
    expect(await notes(wrong)).toBeUndefined();
    const taken = { kind: 'correction', date: '2026-11-25T13:00:00Z', html: 'Read.' };
    expect(await notes([...(Array.isArray(wrong) ? wrong : [wrong]), note('Read.')])).toEqual([taken]);
  });

  it('are limited to 50 per story and 3,000 characters each', async () => {
    const many = await notes(Array.from({ length: 200 }, (_, at) => note(`Note ${at}.`)));
    expect(many).toHaveLength(50);
    const long = (await html(`<em>${'word '.repeat(2000)}</em>`)) ?? '';
    expect([long.length <= 3000, long.endsWith('…'), long.includes('<')]).toEqual([true, true, false]);
  });

  it('contain no hostile markup', async () => {
    for (const payload of xssPayloads) {
      const clean = (await html(`A ${payload} B`)) ?? '';
      expect(clean, payload).not.toMatch(/<(?!\/?(?:a|em|strong)[\s>])/u);
      expect(clean, payload).not.toMatch(/<[^>]*\s(?!href=|rel=|data-wordpress=)[\w-]+=/u);
      expect(clean, payload).not.toMatch(/href="\s*(?:javascript|data|vbscript):/iu);
    }
  });
});
