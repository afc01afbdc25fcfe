/** Guards updates of Stripe's API version: no update before each of its breaking changes was reviewed. */
import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import { expect, it } from 'vitest';
import { apiVersion, reviewedRelease } from './api-version.ts';
import { openStripe } from './stripe.server.ts';

const folder = (name: string): URL => new URL(`../../../../node_modules/${name}/`, import.meta.url);
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(new URL('package.json', folder(name)), 'utf8')).version;

/** Lines of the SDK's changelog that are breaking changes, of the releases after one up to another. */
function breakingLines(changelog: string, after: string, upTo: string): readonly string[] {
  const releases = changelog.split(/^## /m).slice(1);
  const at = (version: string) => releases.findIndex((text) => text.includes(`</a>${version} - `));
  const [from, until] = [at(upTo), at(after)];
  expect(from, `${upTo} is in the changelog`).toBeGreaterThanOrEqual(0);
  expect(until, `${after} is in the changelog, before ${upTo}`).toBeGreaterThan(from);
  return releases
    .slice(from, until)
    .join('\n')
    .split('\n')
    .filter((line) => line.includes('⚠️'));
}

const lines = breakingLines(
  readFileSync(new URL('CHANGELOG.md', folder('stripe')), 'utf8'),
  reviewedRelease.after,
  reviewedRelease.sdk,
);

it('Stripe’s API version and the installed Stripe packages are the reviewed ones', () => {
  expect(apiVersion).toBe(Stripe.API_VERSION);
  expect(versionOf('stripe')).toBe(reviewedRelease.sdk);
  expect(versionOf('@stripe/stripe-js')).toBe(reviewedRelease.stripeJs);
  const client = openStripe({ secretKey: 'sk_test_1', apiUrl: 'http://127.0.0.1:1' });
  expect(client.getApiField('version')).toBe(apiVersion);
});

it('every breaking change since the previous Stripe SDK has exactly one review entry', () => {
  expect(lines.length).toBeGreaterThan(10);
  for (const line of lines) {
    const answers = reviewedRelease.breaking.filter(({ change }) => line.includes(change));
    expect(answers, line.slice(0, 200)).toHaveLength(1);
  }
});

it('every review entry has an answer and matches a breaking change in the SDK’s changelog', () => {
  for (const { change, done } of reviewedRelease.breaking) {
    expect(done.length, change).toBeGreaterThan(8);
    if (!change.startsWith('endive/'))
      expect(
        lines.filter((line) => line.includes(change)),
        change,
      ).toHaveLength(1);
  }
});
