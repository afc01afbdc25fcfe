/** What the checks ask, and that operators find a page for each question. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiVersion } from '../../lib/billing/engine/stripe.server.ts';
import { silent } from '../../lib/logging.ts';
import { parseConfig } from '../config/config.ts';
import { allChecks } from './all.ts';
import { neededEvents } from './stripe-account.ts';

const docs = join(import.meta.dirname, '../../../docs');

it('every service has a page that says how it is verified, and the index names every page', () => {
  const checks = allChecks({ config: parseConfig({}), pluginVersion: '1.0.0', mailTo: null, log: silent });
  const files = readdirSync(join(docs, 'services'));
  const pages = files.map((file) => readFileSync(join(docs, 'services', file), 'utf8'));
  const services = new Set(checks.map(({ service }) => service));
  const without = [...services].filter((name) => !pages.some((page) => page.includes(`--only ${name}`)));
  expect(without).toEqual([]);
  // A page lists the questions of the checks.
  const asked = checks.flatMap(({ service, steps }) => steps.map(({ asks }) => `${service.padEnd(10)} ${asks}`));
  const promised = pages.flatMap((page) => [...page.matchAll(/ok {8}([a-z]+ +.+?) →/g)].map(([, line = '']) => line));
  // Some lines contain a host or an address from the settings.
  const fixed = promised.filter((line) => !/example\.com/.test(line));
  expect(fixed.filter((line) => !asked.includes(line))).toEqual([]);
  const index = readFileSync(join(docs, 'operations.md'), 'utf8');
  expect(files.filter((file) => !index.includes(`(services/${file})`))).toEqual([]);
  const [, section = ''] = index.split('\n## Checking the services\n');
  const [table = ''] = section.split('\n## ');
  const listed = [...table.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...services].toSorted());
});

it('the operators’ guide names the API version and every webhook event that the Stripe check requires', () => {
  const guide = readFileSync(join(docs, 'operations.md'), 'utf8');
  const [, text = ''] = /^2\. A webhook endpoint (.*?)^3\. /ms.exec(guide) ?? [];
  expect(text).toContain(` ${apiVersion},`);
  const named = [...text.matchAll(/`([a-z_]+\.[a-z_.]*\*?)`/g)].map(([, name = '']) => name);
  const isNamed = (event: string): boolean =>
    named.some((name) => (name.endsWith('*') ? event.startsWith(name.slice(0, -1)) : event === name));
  expect(neededEvents.filter((event) => !isNamed(event))).toEqual([]);
});
