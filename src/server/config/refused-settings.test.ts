import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

const bucket = {
  ASSETS_BUCKET: 'https://s3.example.com/my-bucket',
  ASSETS_BUCKET_KEY_ID: 'key-id',
  ASSETS_BUCKET_SECRET: 'secret-of-the-key',
  DATABASE_URL: 'postgres://user:password@127.0.0.1/name',
};

describe('the settings', () => {
  it('are refused by name when the value is in quotes', () => {
    const secret = `"${'x'.repeat(40)}"`;
    expect(problemsOf({ NEWSROOM_SECRET: secret, PORT: "'80'" })).toEqual([
      'PORT is in quotes; leave them out',
      'NEWSROOM_SECRET is in quotes; leave them out',
    ]);
    expect(problemsOf({ SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: '"The Sun, daily" <news@example.com>' })).toEqual([]);
  });

  it('report every problem at once', () => {
    const env = {
      PORT: 'http',
      SITE_URL: 'example.com',
      LOG_LEVEL: 'loud',
      NEWSROOM_SECRET: 'short',
      WORDPRESS_USER: 'me',
    };
    const problems = problemsOf(env);
    for (const name of Object.keys(env))
      expect(problems.join('\n')).toContain(name === 'WORDPRESS_USER' ? 'WORDPRESS_APP_PASSWORD' : name);
    expect(problems).toHaveLength(6);
  });

  it.each([
    [{ GTM_CONTAINER: 'UA-1' }, /^GTM_CONTAINER isn't a container/],
    [
      { CONSENT_PLATFORM_URL: 'https://user:secret@cmp.test/choice.js' },
      /^CONSENT_PLATFORM_URL isn't an address of a script/,
    ],
    [{ CALENDLY_URL: 'calendly' }, /^CALENDLY_URL isn't an address of a booking page/],
    [{ ADS_WITHOUT_CONSENT: 'all', GPT_NETWORK: '1234' }, /^ADS_WITHOUT_CONSENT is "all"; give house or limited$/],
    [{ HEADLINE_TESTS: 'on' }, /^HEADLINE_TESTS is "on"; give consent or all$/],
    [{ GPT_SCRIPT_URL: 'https://ads.test/gpt.js' }, /^GPT_NETWORK is missing/],
    [{ PORT: '65536' }, /^PORT is "65536"; give .* from 0 to 65535$/],
    [{ PORT: '-1' }, /^PORT is "-1"/],
    [{ PORT: '0x50' }, /^PORT is "0x50"/],
    [{ SYNC_POLL_SECONDS: '0' }, /^SYNC_POLL_SECONDS is "0"/],
    [{ SITE_URL: 'https://example.com/paper' }, /^SITE_URL .* without a path/],
    [{ SITE_URL: 'ftp://example.com' }, /^SITE_URL/],
    [{ WORDPRESS_URL: 'https://example.com/wp-json/' }, /^WORDPRESS_URL .*without .*\/wp-json/],
    [{ WORDPRESS_URL: 'https://user:secret@example.com' }, /^WORDPRESS_URL/],
    [
      { IMAGE_HOSTS: 'https://images.example.com' },
      /^IMAGE_HOSTS holds "https:\/\/images.example.com"; give bare hosts/,
    ],
    [{ FRAME_HOSTS: 'a.example.com,b.example.com/path' }, /^FRAME_HOSTS holds "b.example.com\/path"/],
    [{ HOST: 'http://0.0.0.0' }, /^HOST isn't an address/],
    [{ WORDPRESS_URL: 'https://example.com', WORDPRESS_APP_PASSWORD: 'x' }, /^WORDPRESS_USER is missing/],
    [{ WORDPRESS_USER: 'x', WORDPRESS_APP_PASSWORD: 'x' }, /^WORDPRESS_URL is missing/],
    [{ OPERATOR_TOKEN: 'short' }, /^OPERATOR_TOKEN is shorter than 24/],
    [{ VITALS_SHARE: '5' }, /^VITALS_SHARE is "5"; give the share of page views/],
    [{ VITALS_SHARE: '5%' }, /^VITALS_SHARE is "5%"; give the share of page views/],
    [{ ACCESS_KEYS: 'a:short' }, /^ACCESS_KEYS holds a key \(number 1\) whose secret is shorter/],
    [{ ACCESS_KEYS: 'x'.repeat(40) }, /^ACCESS_KEYS holds a key \(number 1\) that is not of the form/],
    [{ CRAWLERS: 'google,yahoo' }, /^CRAWLERS holds "yahoo"; give google, bing, apple, duckduckgo/],
    [{ CRAWLERS: 'google', CRAWLER_RANGES: 'google' }, /^CRAWLER_RANGES holds "google"; give lists as name=file/],
    [{ CRAWLERS: 'google', CRAWLER_RANGES: 'google=ftp://a/b' }, /^CRAWLER_RANGES holds "google=ftp/],
    [{ CRAWLER_RANGES: 'bing=/a' }, /^CRAWLER_RANGES holds a list for bing, which CRAWLERS does not name/],
    [{ CDN_PROVIDER: 'akamai' }, /^CDN_PROVIDER is "akamai"/],
    [{ CDN_HEADERS: 'yes' }, /^CDN_HEADERS is "yes"; give on or off/],
    [{ CDN_PROVIDER: 'cloudflare', CLOUDFLARE_ZONE: 'z' }, /^CLOUDFLARE_TOKEN is missing/],
    [{ FASTLY_TOKEN: 'x' }, /^CDN_PROVIDER is missing; set it to fastly/],
    [{ DATABASE_URL: 'mysql://topsecret@a/b' }, /^DATABASE_URL is not the address of a PostgreSQL database; give one/],
    [
      { ...bucket, ASSETS_BUCKET: 's3://my-bucket/site' },
      /^ASSETS_BUCKET is not the address of a bucket; give the endpoint/,
    ],
    [{ ...bucket, ASSETS_BUCKET: 'https://my-bucket.s3.example.com' }, /^ASSETS_BUCKET is not the address of a bucket/],
    [{ ...bucket, ASSETS_BUCKET: 'https://s3.example.com/my-bucket/a%2Fb' }, /^ASSETS_BUCKET is not the address/],
    [{ ...bucket, ASSETS_BUCKET_REGION: 'us east' }, /^ASSETS_BUCKET_REGION isn't a region/],
    [{ ...bucket, ASSETS_BUCKET_KEY_ID: 'ASIAIOSFODNN7EXAMPLE' }, /^ASSETS_BUCKET_KEY_ID is a temporary access key/],
    [{ ...bucket, ASSETS_BUCKET_KEY_ID: 'a/b c' }, /^ASSETS_BUCKET_KEY_ID isn't the id of an access key/],
    [{ ...bucket, ASSETS_BUCKET_SECRET: '' }, /^ASSETS_BUCKET_SECRET is missing; set it together with ASSETS_BUCKET/],
    [{ ...bucket, ASSETS_BUCKET_SECRET: 'x y' }, /^ASSETS_BUCKET_SECRET isn't the secret of an access key/],
    [
      { ...bucket, DATABASE_URL: '' },
      /^DATABASE_URL is missing; set it together with ASSETS_BUCKET, or remove ASSETS_BUCKET$/,
    ],
    [{ ASSETS_BUCKET_REGION: 'auto' }, /^ASSETS_BUCKET is missing/],
    [
      { DATABASE_LISTEN_URL: 'postgres://db.example/sun' },
      /^DATABASE_URL is missing; set it together with DATABASE_LISTEN_URL/,
    ],
    [
      { SMTP_URL: 'https://topsecret@a', MAIL_FROM: 'a@b.com' },
      /^SMTP_URL is not the address of a mail server; give smtp:/,
    ],
    [{ SMTP_URL: 'smtp://mail.test', MAIL_FROM: 'a b' }, /^MAIL_FROM is "a b"; give an address/],
    [{ ACCOUNTS_SECRET: 'short' }, /^ACCOUNTS_SECRET is shorter than 32/],
    [
      { STRIPE_SECRET_KEY: 'secret', STRIPE_PUBLISHABLE_KEY: 'pk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' },
      /^STRIPE_SECRET_KEY isn't a secret key/,
    ],
    [
      { ACCOUNT_LIMITS: 'link.everybody=1/60' },
      /^ACCOUNT_LIMITS "link.everybody=1\/60" names no limit; give .*link\.email/,
    ],
    [{ ACCOUNT_LIMITS: 'link.email=0/60' }, /^ACCOUNT_LIMITS .* out of bounds/],
    [{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }, /^STRIPE_WEBHOOK_SECRET is missing/],
    [{ STRIPE_TAX: 'yes' }, /^STRIPE_TAX is "yes"; give on or off$/],
    [
      { STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' },
      /different modes/,
    ],
    [{ GOOGLE_CLIENT_ID: 'g' }, /^GOOGLE_CLIENT_SECRET is missing/],
    [{ FACEBOOK_CLIENT_SECRET: 'f' }, /^FACEBOOK_CLIENT_ID is missing/],
    [{ INDEXNOW_KEY: 'no key' }, /^INDEXNOW_KEY isn't a key/],
    [{ INDEXNOW_URL: 'https://x.example' }, /^INDEXNOW_KEY is missing/],
  ])('cause an error that says what to do about %j', (env, sentence) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(sentence)]);
  });

  it.each([
    [
      { SMTP_URL: 'mail.example.com', MAIL_FROM: 'a@b.example' },
      'SMTP_URL is not the address of a mail server; give smtp://',
    ],
    [
      { SMTP_URL: 'https://mail.example.com', MAIL_FROM: 'a@b.example' },
      'SMTP_URL is not the address of a mail server',
    ],
    [
      { SMTP_URL: 'smtp://user@mail.example.com', MAIL_FROM: 'a@b.example' },
      'SMTP_URL is not the address of a mail server',
    ],
    [
      { SMTP_URL: 'smtp://mail.example.com/path', MAIL_FROM: 'a@b.example' },
      'SMTP_URL is not the address of a mail server',
    ],
    [
      { SMTP_URL: 'smtp://m.example', MAIL_FROM: 'a@b.example', MAIL_REPLY_TO: 'x' },
      'MAIL_REPLY_TO is "x"; give an address',
    ],
    [{ EMAIL_VERIFIER_URL: 'verifier' }, "EMAIL_VERIFIER_URL isn't an address of a service"],
    [{ EMAIL_DNS_CHECK: 'yes' }, 'EMAIL_DNS_CHECK is "yes"; give on or off'],
  ])('for email cause an error that says what is wrong with %j', (env, sentence) => {
    expect(problemsOf(env)).toContainEqual(expect.stringContaining(sentence));
  });

  it('for a hosted search are accepted only together', () => {
    expect(problemsOf({ ALGOLIA_APP_ID: 'APP1', ALGOLIA_WRITE_KEY: 'writekey1' })).toEqual([
      'ALGOLIA_SEARCH_KEY is missing; set it together with ALGOLIA_APP_ID, or remove ALGOLIA_APP_ID',
      'ALGOLIA_INDEX is missing; set it together with ALGOLIA_APP_ID, or remove ALGOLIA_APP_ID',
    ]);
    expect(problemsOf({ ALGOLIA_APP_ID: 'a b', ALGOLIA_SEARCH_KEY: '?', ALGOLIA_INDEX: 'a/b' })).toHaveLength(3);
    const settings = { ALGOLIA_APP_ID: 'APP1', ALGOLIA_SEARCH_KEY: 'searchkey', ALGOLIA_INDEX: 'stories' };
    expect(parseConfig(settings).algolia).toMatchObject({ writeKey: null, url: null });
  });

  it('never appear in an error when they are secret', () => {
    expect(problemsOf({ NEWSROOM_SECRET: 'topsecret' }).join()).not.toContain('topsecret');
    expect(problemsOf({ OPERATOR_TOKEN: 'topsecret', ACCESS_KEYS: 'a:topsecret' }).join()).not.toContain('topsecret');
    expect(problemsOf({ WORDPRESS_URL: 'https://user:topsecret@example.com' }).join()).not.toContain('topsecret');
    expect(problemsOf({ SMTP_URL: 'https://user:topsecret@example.com' }).join()).not.toContain('topsecret');
    expect(problemsOf({ ASSETS_BUCKET: 'https://a:topsecret@b.example.com/c' }).join()).not.toContain('topsecret');
    expect(problemsOf({ ASSETS_BUCKET_SECRET: 'topsecret key' }).join()).not.toContain('topsecret');
    // Messages that repeat the value: the addresses of a site behind a sign-in.
    expect(problemsOf({ SITE_URL: 'https://user:topsecret@example.com' })).toEqual([
      expect.stringMatching(/^SITE_URL is "https:\/\/…@example.com"; give/),
    ]);
    for (const name of ['IMAGE_HOSTS', 'CRAWLER_RANGES'])
      expect(problemsOf({ [name]: 'https://user:topsecret@example.com' }).join()).not.toContain('topsecret');
  });
});
