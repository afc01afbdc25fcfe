import { describe, expect, it } from 'vitest';
import { type Json, wirePost } from '../../../tests/fixtures/wordpress.ts';
import { xssPayloads } from '../../../tests/fixtures/xss.ts';
import { plainContext, sanitizer } from '../../../tests/world/ingest.ts';
import { ingestDocument } from './ingest.server.ts';

const context = {
  ...plainContext,
  mediaHosts: ['media.example'],
};
const file = 'https://cms.example/wp-content/uploads/2026/11/talk-a1b2.mp3';
const wire = (part: Json = {}, audio: Json = {}): Json => ({
  audio: { url: file, type: 'audio/mpeg', bytes: 123_456, seconds: 754, ...audio },
  title: 'The Vote',
  chapters: [
    { start: 60, title: 'Second' },
    { start: 0, title: 'First' },
  ],
  transcript: 'One.\r\n\r\nTwo.',
  series: 9,
  ...part,
});
async function take(sound: unknown, part: Json = {}) {
  const result = await ingestDocument(sanitizer, 'articles', wirePost({ id: 1, sound, ...part }), context);
  if (result.kind !== 'document') throw new Error(JSON.stringify(result));
  return result.document;
}

describe('a story’s recording', () => {
  it('has its file, its chapters in order, and its podcast series', async () => {
    const { sound, facts } = await take(wire());
    expect(sound).toEqual({
      title: 'The Vote',
      url: file,
      type: 'audio/mpeg',
      bytes: 123_456,
      seconds: 754,
      chapters: [
        { start: 0, title: 'First' },
        { start: 60, title: 'Second' },
      ],
      transcript: 'One.\n\nTwo.',
      podcastId: 9,
    });
    expect(facts.sound).toMatchObject({ podcast: 9 });
    // Changing any part of the recording changes the story.
    const other = await take(wire({ transcript: 'Three.' }));
    expect(other.facts.sound?.mark).not.toBe(facts.sound?.mark);
  });

  it.each([
    undefined,
    null,
    false,
    [],
    'x',
    wire({}, { type: 'text/html' }),
    wire({}, { type: 'audio/mpeg" onx="' }),
    wire({}, { url: 'javascript:alert(1)' }),
    wire({}, { url: 'https://evil.example/a.mp3' }),
    wire({}, { bytes: 'many' }),
    { title: 'No file' },
  ])('is ignored when the site may not play its file, and the story is accepted: %j', async (sound) => {
    const document = await take(sound);
    expect([document.sound, document.facts.sound, document.title]).toEqual([undefined, undefined, 'Headline 1']);
  });

  it('may be on a host that the operator allows', async () => {
    const { sound } = await take(wire({}, { url: 'https://media.example/a.mp3' }));
    expect(sound?.url).toBe('https://media.example/a.mp3');
  });

  it('drops invalid chapters, and keeps the others', async () => {
    const chapters = [
      { start: -1, title: 'a' },
      { start: 1.5, title: 'b' },
      { start: 2, title: '' },
      7,
      { start: 3, title: 'ok' },
    ];
    expect((await take(wire({ chapters }))).sound?.chapters).toEqual([{ start: 3, title: 'ok' }]);
  });

  it('has plain texts of limited length, without control or text-direction characters', async () => {
    const textsOf = async (text: string): Promise<(string | undefined)[]> => {
      const { sound } = await take(wire({ title: text, transcript: text, chapters: [{ start: 0, title: text }] }));
      return [sound?.title, sound?.transcript, sound?.chapters[0]?.title];
    };
    // Pages print it as text, so markup stays as it was written.
    const words = 'If a < b, <b>then</b> c &amp; d';
    expect(await textsOf(`\u202e${words}\u0000\u0007\u2066`)).toEqual([words, words, words]);
    expect(await textsOf('One\u2028Two')).toEqual(['One Two', 'One\nTwo', 'One Two']);
    for (const payload of xssPayloads) {
      const texts = await textsOf(`A ${payload} B`);
      for (const text of texts) {
        expect(text, payload).toMatch(/^A/u);
        expect(text?.replaceAll('\n', ''), payload).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }
      expect(texts[0] + (texts[2] ?? ''), payload).not.toContain('\n');
    }
    const long = (await take(wire({ title: 'x'.repeat(10_000), transcript: 'y'.repeat(2_000_000) }))).sound;
    expect([long?.title.length, long?.transcript.length]).toEqual([300, 500_000]);
  });

  it('has no file address while WordPress withholds it', async () => {
    const { sound } = await take(wire({ chapters: [], transcript: '' }, { url: null }), {
      access: 'subscriber',
      restricted: true,
    });
    expect(sound).toMatchObject({ url: '', seconds: 754, chapters: [], transcript: '' });
  });
});

it('the free opening of a paid story has no audio player, because the recording is paid content', async () => {
  const player = `<blockquote><p>He said so.</p><audio controls src="${file}"></audio></blockquote>`;
  const words = '<p>The council met on Tuesday and agreed on nothing at all that evening.</p>';
  const { openingHtml, bodyHtml } = await take(undefined, {
    access: 'subscriber',
    content: { rendered: player + words.repeat(12), protected: false },
  });
  expect([openingHtml.includes('He said so.'), /talk-a1b2|<figure/u.test(openingHtml)]).toEqual([true, false]);
  expect(bodyHtml).toContain('talk-a1b2');
});

describe('a podcast series', () => {
  const series = {
    guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810',
    language: 'en-US',
    author: 'The Sun',
    email: 'a@b.example',
    category: ['News', 'Politics'],
    explicit: false,
    access: 'subscriber',
  };
  const podcast = async (part: Json) => {
    const result = await ingestDocument(
      sanitizer,
      'podcasts',
      wirePost({ id: 9, series: { ...series, ...part } }),
      context,
    );
    return result.kind === 'document' ? result.document.facts.podcast : result.kind;
  };

  it('has the fields that podcast directories require', async () => {
    expect(await podcast({})).toEqual({
      guid: series.guid,
      language: 'en-US',
      author: 'The Sun',
      email: 'a@b.example',
      category: ['News', 'Politics'],
      explicit: false,
      paid: true,
    });
  });

  it('drops invalid fields', async () => {
    expect(await podcast({ guid: '"><x', language: 'english', email: 'a b', access: 'everyone' })).toMatchObject({
      guid: '',
      language: '',
      email: '',
      paid: false,
    });
  });

  it('is rejected when its access level is unknown', async () => {
    expect(await podcast({ access: 'all' })).toBe('rejected');
  });
});
