import { expect, it } from 'vitest';
import { withQuery } from './form.server.ts';

it('withQuery puts parameters before the fragment of a URL', () => {
  expect(withQuery('/newsletter', { problem: 'email' })).toBe('/newsletter?problem=email');
  expect(withQuery('/newsletter?a=b#form', { problem: 'email' })).toBe('/newsletter?a=b&problem=email#form');
  expect(withQuery('/newsletter#why?', { problem: 'email', state: null })).toBe('/newsletter?problem=email#why?');
  expect(withQuery('/newsletter#form', { problem: null })).toBe('/newsletter#form');
});
