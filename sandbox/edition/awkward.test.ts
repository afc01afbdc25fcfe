import { expect, test } from 'vitest';
import { LONG_ARTICLE_WORDS, countWords } from './awkward/long.ts';
import { payloads } from './awkward/payloads.ts';
import { awkward } from './awkward.ts';
import { readEdition } from './read.ts';

const post = (slug: string) => {
  const found = awkward.find((candidate) => candidate.slug === slug);
  if (!found) throw new Error(`no awkward post "${slug}"`);
  return found;
};

test('every edge-case post has its own address and publication time', () => {
  const addresses = awkward.map(({ type, slug }) => `${type}/${slug}`);
  expect(new Set(addresses).size).toBe(awkward.length);
  expect(new Set(awkward.map(({ hours }) => hours)).size).toBe(awkward.length);
});

test('the long headline has forty words and the long article more than twenty thousand', () => {
  expect(post('forty-word-headline').title.split(/\s+/)).toHaveLength(40);
  expect(countWords(post('minutes-of-the-harbor-board').contentHtml)).toBeGreaterThanOrEqual(LONG_ARTICLE_WORDS);
});

test('text that must not be public contains a canary; in gated posts it is in the fifth paragraph', () => {
  for (const { status, password, contentHtml } of awkward) {
    if (status !== 'publish') expect(contentHtml).toContain(`CANARY-${status}-must-not-leak`);
    if (password) expect(contentHtml).toContain('CANARY-password-must-not-leak');
    for (const mark of ['CANARY-subscriber-body', 'CANARY-registered-body']) {
      if (contentHtml.includes(mark)) expect(contentHtml.split(mark)[0]?.match(/<p>/g)).toHaveLength(5);
    }
  }
});

test('an article, a video and a crossword share one slug', () => {
  expect(awkward.filter(({ slug }) => slug === 'same-slug').map(({ type }) => type)).toEqual(['articles', 'video', 'crosswords']);
});

test('each family of hostile payloads has a post', () => {
  for (const name of Object.keys(payloads)) expect(post(`hostile-${name}`).contentHtml).toContain(payloads[name]?.[0]);
});

test('only the test edition contains the edge-case posts, and the demo edition contains no canary', () => {
  const demo = readEdition('http://127.0.0.1:9', 'demo');
  const name = ({ type, slug }: { type: string; slug: string }) => `${type}/${slug}`;
  const forTests = new Set(awkward.map(name));
  expect(demo.documents.map(name).filter((document) => forTests.has(document))).toEqual([]);
  expect(JSON.stringify(demo)).not.toContain('CANARY');
  const inTests = readEdition('http://127.0.0.1:9', 'tests').documents.map(name);
  expect(inTests).toEqual([...demo.documents, ...awkward].map(name));
});

test('the demo edition has stories of every access level', () => {
  const levels = readEdition('http://127.0.0.1:9', 'demo')
    .documents.filter(({ type }) => type === 'articles')
    .map(({ meta }) => meta.newsroom_access);
  expect(new Set(levels)).toEqual(new Set(['default', 'free', 'registered', 'subscriber']));
});
