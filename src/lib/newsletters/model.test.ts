import { expect, it } from 'vitest';
import { composeIssue, type IssueStory, newsletters } from './model.ts';

const now = Date.parse('2026-11-20T11:30:00Z');
const [morning, evening] = newsletters as [(typeof newsletters)[0], (typeof newsletters)[0]];
/** @param hours before now */
const story = (id: number, hours: number): IssueStory => ({
  id,
  slug: `story-${id}`,
  title: `Story ${id}`,
  excerpt: 'Why.',
  minutes: 4,
  section: { label: 'Politics' },
  byline: { authors: [{ id: 1, name: 'Ada Whitlock', slug: 'ada-whitlock' }], contributors: [], agency: null },
  date: new Date(now - hours * 3_600_000).toISOString(),
});
const ids = (letter: typeof morning, stories: readonly IssueStory[], onTop: readonly number[] = []) =>
  composeIssue(letter, stories, onTop, now)?.stories.map(({ path }) => Number(path.split('-')[1]));

it('an issue has the last day’s stories, with the editors’ top stories first in their order', () => {
  expect(ids(morning, [story(1, 1), story(2, 2), story(3, 20), story(4, 23), story(5, 30)], [3, 9, 2])).toEqual([
    3, 2, 1, 4,
  ]);
});

it('an issue is filled with older stories if the day had few, and there is no issue without stories', () => {
  expect(ids(morning, [story(1, 1), story(2, 40), story(3, 50), story(4, 60)])).toEqual([1, 2, 3]);
  expect(ids(morning, [story(1, 100)])).toEqual([1]);
  expect(composeIssue(morning, [], [], now)).toBeNull();
});

it('an issue has at most eight stories in the morning and four in the evening', () => {
  const many = Array.from({ length: 30 }, (_, number) => story(number + 1, 1));
  expect(ids(morning, many)).toHaveLength(8);
  expect(ids(evening, many)).toHaveLength(4);
});

it('an issue has each story’s headline, standfirst, section, byline and reading time, and the day in New York', () => {
  expect(composeIssue(morning, [story(1, 1)], [], now)).toEqual({
    letter: 'Morning Sun',
    slug: 'morning',
    day: 'Friday, November 20, 2026',
    stories: [
      {
        title: 'Story 1',
        standfirst: 'Why.',
        path: '/article/story-1',
        kicker: 'Politics',
        byline: 'Ada Whitlock',
        minutes: 4,
      },
    ],
  });
});
