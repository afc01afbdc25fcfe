import { expect, it } from 'vitest';
import { readForm, readJson, withQuery } from './form.server.ts';

it('withQuery puts parameters before the fragment of a URL', () => {
  expect(withQuery('/newsletter', { problem: 'email' })).toBe('/newsletter?problem=email');
  expect(withQuery('/newsletter?a=b#form', { problem: 'email' })).toBe('/newsletter?a=b&problem=email#form');
  expect(withQuery('/newsletter#why?', { problem: 'email', state: null })).toBe('/newsletter?problem=email#why?');
  expect(withQuery('/newsletter#form', { problem: null })).toBe('/newsletter#form');
});

it('replaces what PostgreSQL and Stripe refuse in a body: U+0000, and halves of a surrogate pair', async () => {
  const post = (type: string, body: string) =>
    new Request('https://paper.example/', { method: 'POST', headers: { 'content-type': type }, body });
  const json = String.raw`{"a": ["x\u0000y", {"b": "half \ud83d"}], "c": "\ud83d\ude00 \\u0000", "d": 7}`;
  expect(await readJson(post('application/json', json))).toEqual({
    ok: true,
    value: { a: ['x\ufffdy', { b: 'half \ufffd' }], c: '😀 \\u0000', d: 7 },
  });
  const form = await readForm(post('application/x-www-form-urlencoded', 'a=x%00y&b=\0&c=%2500'));
  expect([...(form ?? [])]).toEqual([
    ['a', 'x\ufffdy'],
    ['b', '\ufffd'],
    ['c', '%00'],
  ]);
});
