import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import type { Card, CorrectedStory, Correction } from '../content/model.ts';
import type { ContentReader } from '../content/reader.ts';
import { answerCorrectionsFeed } from './feed.ts';
import { byDay, namedNote, storiesOfNextNotice } from './model.ts';

const card = { id: 7, slug: 'a-story', title: 'A <b>Story</b> & more', section: null } as Card;
const note = (date: string, part: Partial<CorrectedStory> = {}): CorrectedStory => ({
  kind: 'correction',
  date,
  html: 'It is <em>one</em> &amp; <a href="/x">not</a> two.',
  card,
  ...part,
});
const items = [
  note('2026-11-25T05:30:00Z'),
  note('2026-11-25T04:30:00Z', { kind: 'clarification' }),
  note('2026-11-24T14:00:00Z'),
  note('2026-11-24T14:00:00Z', { html: 'Another of the same moment.' }),
];
const reader = (list: readonly CorrectedStory[]) =>
  ({ corrections: () => ({ items: list, total: list.length }) }) as unknown as ContentReader;
const feed = (file: string, list = items) => answerCorrectionsFeed(reader(list), 'https://sun.example', file);

it('notes are grouped by their day in New York', () => {
  expect(byDay(items).map(({ day, items: notes }) => [day, notes.length])).toEqual([
    ['2026-11-25', 1],
    ['2026-11-24', 3],
  ]);
  expect(byDay([])).toEqual([]);
});

it('the line below the byline names a correction before a newer clarification', () => {
  const notes: Correction[] = [
    { kind: 'clarification', date: '2026-11-25T00:00:00Z', html: '' },
    { kind: 'correction', date: '2026-11-24T00:00:00Z', html: '' },
  ];
  expect(namedNote(notes)?.kind).toBe('correction');
  expect(namedNote(notes.slice(0, 1))?.kind).toBe('clarification');
  expect(namedNote([])).toBeUndefined();
});

it('a notice shows the three oldest unseen corrections, or more if some have the same time', () => {
  const ats = (...list: number[]) => storiesOfNextNotice(list.map((at) => ({ at }))).map(({ at }) => at);
  expect(ats(9, 7, 5, 3, 1)).toEqual([5, 3, 1]);
  expect(ats(5, 3)).toEqual([5, 3]);
  expect(ats()).toEqual([]);
  // If the last seen time were 5, the reader would never be told of the other story with the same time.
  expect(ats(9, 5, 5, 3, 1)).toEqual([5, 5, 3, 1]);
});

describe('the corrections feed', () => {
  it('is valid RSS with a unique id for each note of a story', async () => {
    const xml = await feed('rss.xml').text();
    expect(XMLValidator.validate(xml)).toBe(true);
    const { channel } = new XMLParser({ parseTagValue: false }).parse(xml).rss;
    expect(channel.link).toBe('https://sun.example/corrections');
    expect(channel.item[1]).toMatchObject({
      title: 'Clarification: A <b>Story</b> & more',
      link: 'https://sun.example/article/a-story#corrections',
      description: 'It is one & not two.',
    });
    expect(new Set(channel.item.map(({ guid }: { guid: string }) => guid)).size).toBe(4);
  });

  it('comes as Atom and JSON too, even without notes, and responds 404 to other names', async () => {
    expect(feed('atom.xml').headers.get('content-type')).toMatch(/^application\/atom\+xml/);
    expect(JSON.parse(await feed('feed.json').text()).feed_url).toBe('https://sun.example/corrections/feed.json');
    expect(JSON.parse(await feed('feed.json', []).text()).items).toEqual([]);
    expect(feed('rss.php').status).toBe(404);
  });
});
