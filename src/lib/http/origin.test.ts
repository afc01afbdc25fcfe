import { expect, it } from 'vitest';
import { comesFromHere } from './origin.ts';

const site = 'https://paper.example';
const here = (headers: Record<string, string>) => comesFromHere(new Headers(headers), site);

it.each([
  { origin: site },
  { origin: site, 'sec-fetch-site': 'same-origin', cookie: 'a=b' },
  { origin: 'null', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'same-origin', cookie: 'a=b' },
  {},
])('%j is ours', (headers: object) => {
  expect(here(headers as Record<string, string>)).toBe(true);
});

it.each([
  { origin: 'https://other.example' },
  { origin: 'http://paper.example' },
  { origin: 'https://paper.example:8443' },
  { origin: 'https://sub.paper.example', 'sec-fetch-site': 'same-site' },
  { origin: 'null' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  // Each of the two has to agree.
  { origin: site, 'sec-fetch-site': 'cross-site' },
  { origin: 'https://other.example', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none', cookie: 'a=b' },
  { cookie: 'a=b' },
])('%j is not', (headers: object) => {
  expect(here(headers as Record<string, string>)).toBe(false);
});
