import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sandboxSettings } from '../../../scripts/settings.ts';
import { defaultLimits } from '../../lib/http/limits.ts';
import { defaultAddresses, noThirdParties } from '../../lib/third-party/settings.ts';
import { parseConfig, settingNames } from './config.ts';

describe('the settings', () => {
  it('all have a default', () => {
    expect(parseConfig({})).toEqual({
      host: '127.0.0.1',
      port: 4321,
      siteUrl: 'http://127.0.0.1:4321',
      dataDir: 'var/site',
      workers: 1,
      databaseUrl: null,
      databaseListenUrl: null,
      databasePool: 3,
      assetsBucket: null,
      backupDir: null,
      backupDays: 30,
      trustedProxies: 0,
      zephrUrl: null,
      zephr: { codeKey: null, codeCheckPath: null, userInfoPath: null },
      accounts: { secret: null, auditDays: 90, limits: defaultLimits, google: null, facebook: null },
      mail: null,
      emailVerifier: null,
      emailDnsCheck: true,
      geo: { countryHeader: null, cityHeader: null },
      wordpress: null,
      newsroomSecret: null,
      syncPollSeconds: 30,
      imageHosts: [],
      imageCacheBytes: 1024 * 1024 * 1024,
      frameHosts: [],
      thirdParties: noThirdParties,
      consentPlatform: null,
      headlineTests: 'consent',
      push: null,
      ticker: null,
      stripe: null,
      algolia: null,
      pressMemoryBytes: 64 * 1024 * 1024,
      liveConnections: 20_000,
      operatorToken: null,
      vitalsShare: 0,
      accessKeys: null,
      cdn: null,
      crawlers: null,
      cdnHeaders: false,
      sharedDictionary: true,
      indexNow: null,
      redirectsFile: null,
      retention: null,
      logLevel: 'info',
      tracing: null,
    });
  });

  it('are all read', () => {
    const config = parseConfig({
      HOST: '::',
      PORT: '80',
      SITE_URL: 'https://www.example.com/',
      DATA_DIR: '/srv/a paper',
      WORKERS: '4',
      DATABASE_URL: 'postgresql://paper:secret@db.example.com/paper',
      DATABASE_LISTEN_URL: 'postgresql://paper:secret@db.example.com:6432/paper',
      DATABASE_POOL: '7',
      ASSETS_BUCKET: 'https://s3.example.com/my-bucket/a/b/',
      ASSETS_BUCKET_REGION: 'eu-central-1',
      ASSETS_BUCKET_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
      ASSETS_BUCKET_SECRET: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      BACKUP_DIR: '/srv/backup',
      BACKUP_DAYS: '7',
      TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1',
      CONSENT_PLATFORM_URL: 'https://cmp.example.com/choice.js?id=1',
      CONSENT_PLATFORM_HOSTS: '*.example.net',
      ZEPHR_CODE_KEY: 'email_otp',
      ZEPHR_CODE_CHECK_PATH: '/zephr/paper/code',
      ZEPHR_USER_INFO_PATH: '/zephr/paper/known',
      ZEPHR_URL: 'https://paper.cdn.zephr.example/',
      ACCOUNTS_SECRET: 's'.repeat(32),
      AUDIT_DAYS: '30',
      STRIPE_SECRET_KEY: 'sk_test_1',
      STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      STRIPE_API_URL: 'http://127.0.0.1:8883/',
      STRIPE_JS_URL: 'http://127.0.0.1:8883/stripe.js',
      STRIPE_TAX: 'on',
      ACCOUNT_LIMITS: ' link.email=10/600, comparedGuess.address=20/600, ',
      GOOGLE_CLIENT_ID: 'g',
      GOOGLE_CLIENT_SECRET: 'gs',
      GOOGLE_ISSUER_URL: 'https://google.test/',
      FACEBOOK_CLIENT_ID: 'f',
      FACEBOOK_CLIENT_SECRET: 'fs',
      FACEBOOK_URL: 'https://facebook.test',
      FACEBOOK_GRAPH_URL: 'https://graph.test',
      SMTP_URL: 'smtp://the%20sun:p%40ss@mail.test',
      MAIL_FROM: 'The Sun <news@example.com>',
      MAIL_REPLY_TO: 'letters@example.com',
      EMAIL_VERIFIER_URL: 'https://verifier.test/check',
      EMAIL_VERIFIER_KEY: 'v',
      EMAIL_DNS_CHECK: 'off',
      GEO_COUNTRY_HEADER: 'CF-IPCountry',
      GEO_CITY_HEADER: 'CF-IPCity',
      WORDPRESS_URL: 'https://example.com/newsroom/',
      WORDPRESS_USER: 'site',
      WORDPRESS_APP_PASSWORD: 'abcd efgh',
      NEWSROOM_SECRET: '0123456789abcdef',
      SYNC_POLL_SECONDS: '5',
      IMAGE_HOSTS: 'a.example.com, B.example.com:8080 ,a.example.com',
      IMAGE_CACHE_MB: '2',
      FRAME_HOSTS: '127.0.0.1:8881,[::1]:80',
      QUOTES_KEY: 'quotes-key',
      ALGOLIA_APP_ID: 'APP1',
      ALGOLIA_SEARCH_KEY: 'searchkey',
      ALGOLIA_WRITE_KEY: 'writekey1',
      ALGOLIA_INDEX: 'sun-stories',
      ALGOLIA_URL: 'http://127.0.0.1:9998/',
      MARFEEL_ACCOUNT: '1234',
      GTM_CONTAINER: 'GTM-ABCD123',
      TAG_HOSTS: 'tags.example.com',
      ONESIGNAL_APP_ID: '01234567-89ab-cdef-0123-456789abcdef',
      ONESIGNAL_SDK_URL: 'http://127.0.0.1:8884/onesignal/',
      ONESIGNAL_API_KEY: 'os_v2_app_0123456789',
      ONESIGNAL_API_URL: 'http://127.0.0.1:8885/',
      ONESIGNAL_SEGMENT: 'Breaking',
      GROWSURF_CAMPAIGN: 'abc123',
      CALENDLY_URL: 'https://calendly.com/the-sun/call',
      GPT_NETWORK: '1234567',
      ADS_WITHOUT_CONSENT: 'limited',
      HEADLINE_TESTS: 'all',
      PRESS_MEMORY_MB: '64',
      LIVE_CONNECTIONS: '500',
      OPERATOR_TOKEN: 'a-token-of-24-characters',
      VITALS_SHARE: '0.2',
      ACCESS_KEYS: `b:${'y'.repeat(32)}, a:${'x:'.repeat(20)}`,
      CRAWLERS: 'Google, bing,google',
      CRAWLER_RANGES: 'google=/etc/googlebot.json',
      CDN_PROVIDER: 'fastly',
      CDN_HEADERS: 'off',
      SHARED_DICTIONARY: 'off',
      FASTLY_SERVICE: 'abc',
      FASTLY_TOKEN: 'def',
      FASTLY_API_URL: 'http://127.0.0.1:9999/',
      FASTLY_SOFT_PURGE: 'on',
      INDEXNOW_KEY: 'abcd1234',
      REDIRECTS_FILE: 'redirects.txt',
      CHURNKEY_APP_ID: 'app_1',
      CHURNKEY_API_KEY: 'churn-key',
      CHURNKEY_SCRIPT_URL: 'http://127.0.0.1:8884/js/app.js',
      LOG_LEVEL: 'warn',
    });
    expect(config).toEqual({
      host: '::',
      port: 80,
      siteUrl: 'https://www.example.com',
      dataDir: '/srv/a paper',
      databaseUrl: 'postgresql://paper:secret@db.example.com/paper',
      databaseListenUrl: 'postgresql://paper:secret@db.example.com:6432/paper',
      workers: 4,
      databasePool: 7,
      assetsBucket: {
        endpoint: 'https://s3.example.com',
        bucket: 'my-bucket',
        prefix: 'a/b',
        region: 'eu-central-1',
        keyId: 'AKIAIOSFODNN7EXAMPLE',
        secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      },
      backupDir: '/srv/backup',
      backupDays: 7,
      trustedProxies: ['10.0.0.0/8', '2001:db8::1'],
      zephrUrl: 'https://paper.cdn.zephr.example',
      zephr: { codeKey: 'email_otp', codeCheckPath: '/zephr/paper/code', userInfoPath: '/zephr/paper/known' },
      accounts: {
        secret: 's'.repeat(32),
        auditDays: 30,
        limits: {
          ...defaultLimits,
          link: { ...defaultLimits.link, email: { most: 10, seconds: 600 } },
          comparedGuess: { ...defaultLimits.comparedGuess, address: { most: 20, seconds: 600 } },
        },
        google: { url: 'https://google.test', clientId: 'g', clientSecret: 'gs' },
        facebook: { url: 'https://facebook.test', graphUrl: 'https://graph.test', clientId: 'f', clientSecret: 'fs' },
      },
      mail: {
        smtp: { host: 'mail.test', port: 587, secure: false, auth: { user: 'the sun', password: 'p@ss' } },
        from: { name: 'The Sun', address: 'news@example.com' },
        replyTo: { name: '', address: 'letters@example.com' },
      },
      emailVerifier: { vendor: 'plain', url: 'https://verifier.test/check', key: 'v' },
      emailDnsCheck: false,
      geo: { countryHeader: 'cf-ipcountry', cityHeader: 'cf-ipcity' },
      wordpress: { url: 'https://example.com/newsroom', user: 'site', password: 'abcd efgh' },
      newsroomSecret: '0123456789abcdef',
      syncPollSeconds: 5,
      imageHosts: ['a.example.com', 'b.example.com:8080'],
      imageCacheBytes: 2 * 1024 * 1024,
      frameHosts: ['127.0.0.1:8881', '[::1]:80'],
      push: {
        appId: '01234567-89ab-cdef-0123-456789abcdef',
        key: 'os_v2_app_0123456789',
        url: 'http://127.0.0.1:8885',
        segment: 'Breaking',
      },
      consentPlatform: { scriptUrl: 'https://cmp.example.com/choice.js?id=1', hosts: ['*.example.net'] },
      thirdParties: {
        tagManager: { container: 'GTM-ABCD123', scriptUrl: defaultAddresses.tagManager, hosts: ['tags.example.com'] },
        audience: { account: '1234', scriptUrl: defaultAddresses.audience },
        webPush: { appId: '01234567-89ab-cdef-0123-456789abcdef', sdkUrl: 'http://127.0.0.1:8884/onesignal' },
        referral: { campaign: 'abc123', scriptUrl: defaultAddresses.referral },
        scheduling: { url: 'https://calendly.com/the-sun/call', scriptUrl: defaultAddresses.scheduling },
        ads: {
          network: '1234567',
          scriptUrl: defaultAddresses.ads,
          limitedScriptUrl: defaultAddresses.limitedAds,
          withoutConsent: 'limited',
        },
      },
      headlineTests: 'all',
      ticker: { key: 'quotes-key', url: 'https://api.twelvedata.com' },
      algolia: {
        appId: 'APP1',
        searchKey: 'searchkey',
        writeKey: 'writekey1',
        index: 'sun-stories',
        url: 'http://127.0.0.1:9998',
      },
      pressMemoryBytes: 64 * 1024 * 1024,
      liveConnections: 500,
      operatorToken: 'a-token-of-24-characters',
      vitalsShare: 0.2,
      accessKeys: [
        { id: 'b', secret: 'y'.repeat(32) },
        { id: 'a', secret: 'x:'.repeat(20) },
      ],
      cdn: { provider: 'fastly', service: 'abc', token: 'def', apiUrl: 'http://127.0.0.1:9999', soft: true },
      cdnHeaders: false,
      sharedDictionary: false,
      indexNow: { key: 'abcd1234', url: undefined },
      crawlers: { names: ['google', 'bing'], ranges: { google: '/etc/googlebot.json' } },
      redirectsFile: 'redirects.txt',
      retention: {
        appId: 'app_1',
        apiKey: 'churn-key',
        scriptUrl: 'http://127.0.0.1:8884/js/app.js',
        mode: 'test',
      },
      stripe: {
        secretKey: 'sk_test_1',
        publishableKey: 'pk_test_1',
        webhookSecret: 'whsec_1',
        apiUrl: 'http://127.0.0.1:8883',
        scriptUrl: 'http://127.0.0.1:8883/stripe.js',
        tax: true,
      },
      logLevel: 'warn',
      tracing: null,
    });
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:4321'],
    ['::', 'http://127.0.0.1:4321'],
    ['::1', 'http://[::1]:4321'],
    ['localhost', 'http://localhost:4321'],
  ])('give a site URL that can be opened when the server listens on %s', (HOST, siteUrl) => {
    expect(parseConfig({ HOST }).siteUrl).toBe(siteUrl);
  });

  it('count as not set when they are empty', () => {
    expect(parseConfig({ PORT: ' ', WORDPRESS_URL: '', NEWSROOM_SECRET: '  ' })).toEqual(parseConfig({}));
  });

  it('for mail give the server, the sender, and the reply address', () => {
    expect(parseConfig({}).mail).toBeNull();
    const from = 'The Sun <news@example.com>';
    expect(parseConfig({ SMTP_URL: 'smtps://ann%40x:p%2Fw@mail.example.com', MAIL_FROM: from }).mail).toEqual({
      smtp: { host: 'mail.example.com', port: 465, secure: true, auth: { user: 'ann@x', password: 'p/w' } },
      from: { name: 'The Sun', address: 'news@example.com' },
      replyTo: null,
    });
    const plain = parseConfig({
      SMTP_URL: 'smtp://[::1]',
      MAIL_FROM: 'news@example.com',
      MAIL_REPLY_TO: 'desk@example.com',
    });
    expect(plain.mail).toMatchObject({
      smtp: { host: '::1', port: 587, secure: false, auth: null },
      from: { name: '', address: 'news@example.com' },
      replyTo: { address: 'desk@example.com' },
    });
  });

  it('for email checks and location headers are read', () => {
    expect(parseConfig({})).toMatchObject({
      emailVerifier: null,
      emailDnsCheck: true,
      geo: { countryHeader: null, cityHeader: null },
    });
    const url = 'https://verifier.example.com/v1/verify?plan=a';
    expect(
      parseConfig({
        EMAIL_VERIFIER_URL: url,
        EMAIL_VERIFIER_KEY: 'k',
        EMAIL_DNS_CHECK: 'off',
        GEO_CITY_HEADER: 'CF-IPCity',
      }),
    ).toMatchObject({
      emailVerifier: { url, key: 'k' },
      emailDnsCheck: false,
      geo: { countryHeader: null, cityHeader: 'cf-ipcity' },
    });
  });

  it('are all in .env.example, which has no others', () => {
    const documented = [...readFileSync('.env.example', 'utf8').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(
      (match) => match[1],
    );
    expect(documented.toSorted()).toEqual([...settingNames, ...sandboxSettings].toSorted());
  });

  it('have the defaults that .env.example shows', () => {
    const shown = Object.fromEntries(
      [
        ...readFileSync('.env.example', 'utf8').matchAll(
          /^#(HOST|PORT|DATA_DIR|WORKERS|\w+_(?:DAYS|POOL|PROXIES|LEVEL|SECONDS|MB|CONNECTIONS|CHECK|TAX|PURGE|DICTIONARY|TESTS|VERIFIER))=(.*)$/gm,
        ),
      ].map((match) => [match[1], match[2]]),
    );
    expect(Object.keys(shown)).toHaveLength(19);
    expect(parseConfig(shown)).toEqual(parseConfig({}));
  });
});
