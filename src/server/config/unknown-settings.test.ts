import { expect, it } from 'vitest';
import { settingNames } from './config.ts';
import { unknownSettings } from './unknown-settings.ts';

it.each([
  ['WORDPRES_URL', 'WORDPRESS_URL'],
  ['WORDPRESS_ULR', 'WORDPRESS_URL'],
  ['SITE_URI', 'SITE_URL'],
  ['SITEURL', 'SITE_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['NEWSROM_SECRET', 'NEWSROOM_SECRET'],
  ['STRIPE_SECRET', 'STRIPE_SECRET_KEY'],
  ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ['SYNC_POLL_SECOND', 'SYNC_POLL_SECONDS'],
])('the unknown setting %s is reported as a misspelling of %s', (name, meant) => {
  expect(unknownSettings({ [name]: 'x' })).toEqual([{ name, meant }]);
});

it('known settings and those of other programs are not reported as unknown', () => {
  const env = Object.fromEntries(settingNames.map((name) => [name, 'x']));
  const others = {
    PATH: '/bin',
    HOME: '/root',
    HOSTNAME: 'node-1',
    MAIL: '/var/mail/root',
    GOOGLE_APPLICATION_CREDENTIALS: '/key.json',
    NODE_ENV: 'production',
    NODE_OPTIONS: '',
    LOG_FORMAT: 'json',
    BACKUP_BUCKET: 's3://backups',
    WORDPRESS_SERVICE_HOST: '10.0.0.1',
    WORDPRESS_PORT_80_TCP_ADDR: '10.0.0.1',
    WORDPRESS_PORT: 'tcp://10.0.0.1:80',
    wordpres_url: 'x',
  };
  expect(unknownSettings({ ...env, ...others })).toEqual([]);
});

it('empty settings and those of other commands are not reported as unknown', () => {
  expect(unknownSettings({ WORDPRES_URL: ' ' })).toEqual([]);
  expect(unknownSettings({ STRIPE_SANDBOX_PORT: '1' }, ['STRIPE_SANDBOX_PORT'])).toEqual([]);
});
