// @vitest-environment jsdom
import { expect, it, vi } from 'vitest';
import { publication } from '../../publication.ts';
import { articleFacts } from './model.ts';
import { createTracker, onTrack, track } from './tracker.ts';

const article = articleFacts({
  id: 7,
  slug: 'a-story',
  title: 'A Story',
  date: '2026-11-20T10:00:00Z',
  byline: { authors: [{ id: 1, name: 'Ann Lee', slug: 'ann-lee' }], contributors: [], agency: null },
  sections: [{ label: 'Arts+' }, { label: 'National' }],
});

function setUp() {
  const send = vi.fn();
  const page = { kind: 'article', section: 'culture', article };
  return {
    send,
    tracker: createTracker({ page, codes: publication.visitorTypeCodes, path: () => '/article/a-story', send }),
  };
}

it('the tracked facts of an article are those of the specification', () => {
  expect(article).toEqual({
    slug: 'a-story',
    title: 'A Story',
    id: 7,
    date: '2026-11-20T10:00:00Z',
    author: 'Ann Lee',
    category: 'Arts+',
  });
  expect(
    articleFacts({ ...article, byline: { authors: [], contributors: [], agency: null }, sections: [] }),
  ).toMatchObject({ author: '', category: '' });
});

it('the tracker waits until the visitor type is known, and sends it with each event', () => {
  const { send, tracker } = setUp();
  tracker.allow(true);
  tracker.event('page_view');
  tracker.visitor(null);
  expect(send).not.toHaveBeenCalled();
  tracker.visitor('founder');
  expect(send).toHaveBeenCalledExactlyOnceWith({
    event: 'page_view',
    visitor_type: 'founder',
    visitor_code: 5,
    page_path: '/article/a-story',
    page_kind: 'article',
    article,
  });
  tracker.event('share', { way: 'copy', event: 'forged' });
  expect(send.mock.lastCall?.[0]).toMatchObject({ event: 'share', way: 'copy', visitor_type: 'founder' });
});

it('the tracker drops events without consent, and waiting ones when consent is withdrawn', () => {
  const { send, tracker } = setUp();
  tracker.event('page_view');
  tracker.allow(true);
  tracker.event('page_view');
  tracker.allow(false);
  tracker.visitor('anonymous');
  tracker.event('share');
  expect(send).not.toHaveBeenCalled();
});

it('onTrack passes on the events that track() sends after it', () => {
  const heard = vi.fn();
  track('before');
  onTrack(heard);
  track('share', { way: 'native' });
  expect(heard.mock.calls).toEqual([['share', { way: 'native' }]]);
});
