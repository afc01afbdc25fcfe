import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempDir } from '../../press/testing.ts';
import { parseConfig } from '../config/config.ts';
import { describeFeatures } from '../features.ts';
import { forgetOtherSites, pagesName } from './open-press.ts';

const stripe = {
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
};
const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'The Sun <news@example.com>' };

const token = 'a-token-of-24-characters';

function name(env: Record<string, string>, providers: readonly 'google'[] = []): string {
  const config = parseConfig(env);
  const accounts = { providers } as unknown as NonNullable<Parameters<typeof pagesName>[2]['accounts']>;
  return pagesName('abc', config, { features: describeFeatures(config), accounts });
}

it('settings that show in pages change the name under which pages are stored', () => {
  const names = [
    name({}),
    name(mail),
    name({ ...mail, ...stripe }),
    name(mail, ['google']),
    name({ ...mail, MARFEEL_ACCOUNT: '12' }),
    name({ ...mail, GPT_NETWORK: '1234' }),
    name({ ZEPHR_URL: 'https://paper.cdn.zephr.com' }),
    name({ OPERATOR_TOKEN: token }),
    name({ OPERATOR_TOKEN: token, VITALS_SHARE: '0.5' }),
    name({ GEO_COUNTRY_HEADER: 'cf-ipcountry' }),
  ];
  expect(new Set(names).size).toBe(names.length);
  for (const one of names) expect(one).toMatch(/^abc-[0-9a-f]{6}$/);
});

it('settings that show in no page do not change the name under which pages are stored', () => {
  expect(name({ ...mail, PORT: '1', PRESS_MEMORY_MB: '8', LOG_LEVEL: 'debug' })).toBe(name(mail));
  expect(name({ OPERATOR_TOKEN: token, VITALS_SHARE: '0' })).toBe(name({}));
});

it('stored pages of another SITE_URL are deleted, and nothing else in the folder', () => {
  const folder = tempDir();
  onTestFinished(folder.remove);
  const config = parseConfig({ DATA_DIR: folder.dir, SITE_URL: 'https://sun.example' });
  forgetOtherSites(config);
  const pages = join(folder.dir, 'pages');
  expect(readdirSync(pages)).toEqual([]);
  const kept = ['pages-a3b04132.sqlite', 'pages-a3b04132.sqlite-wal', 'earlier', 'notes.txt', 'pages-x.sqlite'];
  for (const name of [...kept, 'pages-0123abcd.sqlite', 'pages-0123abcd.sqlite-wal', 'pages-0123abcd.sqlite-shm']) {
    if (name === 'earlier') mkdirSync(join(pages, name));
    else writeFileSync(join(pages, name), '');
  }
  forgetOtherSites(config);
  expect(readdirSync(pages).sort()).toEqual(kept.sort());
});
