/** The days in the sample edition's privacy policy are those of the product. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { defaultKeeping } from '../src/lib/accounts/service.server.ts';
import { publication } from '../src/publication.ts';

const read = (file: string) => fs.readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');
const policy = read('sandbox/edition/pages/privacy-policy.md');
const plugin = read('wordpress/newsroom/includes/comment-privacy.php');

it.each([
  ['Your reading history', publication.savedStories.historyDays],
  ['Articles that counted toward the free ones', publication.access.meter.days],
  ['Messages to support', publication.support.keepDays],
  ['The record of sign-ins and changes to your account', defaultKeeping.auditDays],
  ['An account whose address was never confirmed', defaultKeeping.unconfirmedDays],
  ['The network address and browser of a comment', Number(/NEWSROOM_COMMENTER_DAYS = (\d+);/.exec(plugin)?.[1])],
])('the privacy policy says how many days are kept: %s', (what, days) => {
  expect(policy).toContain(`\n| ${what} | ${days} days`);
});
