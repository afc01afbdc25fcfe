import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { browserFromEnvironment, findInstalled } from './browser.ts';
import { buildEnvironment, hashSources } from './build.ts';
import { machineOf, missingOptional } from './complete-lock.mjs';
import { compressFolder } from './compress.ts';
import { type SandboxAccess, sandboxEnvironment } from './sandbox.ts';
import { sandboxPorts } from './settings.ts';
import { readOffer } from './stripe-offer.ts';
import {
  countCheck,
  countPlaywright,
  countVitest,
  failureOfOutput,
  failuresOfPlaywright,
  failuresOfVitest,
  judge,
  sentence,
  sum,
} from './tally.ts';

const client = { clientId: 'id', clientSecret: 'secret' };
const access: SandboxAccess = {
  wordpress: {
    url: 'http://127.0.0.1:1',
    adminUrl: 'http://127.0.0.1:1/wp-admin/',
    adminUser: 'editor',
    adminPassword: 'p',
    siteUser: 'site',
    siteApplicationPassword: 'abcd',
    secret: 'secret',
  },
  mailbox: { smtpUrl: 'smtp://u:p@127.0.0.1:2', url: 'http://127.0.0.1:3' },
  google: { issuer: 'http://127.0.0.1:4', ...client },
  facebook: { wwwUrl: 'http://127.0.0.1:5', graphUrl: 'http://127.0.0.1:5', ...client },
  verifier: { url: 'http://127.0.0.1:6/v1/verify', kickboxUrl: 'http://127.0.0.1:6/v2/verify', key: 'key' },
  stripe: {
    apiUrl: 'http://127.0.0.1:7',
    scriptUrl: 'http://127.0.0.1:7/stripe.js',
    url: 'http://127.0.0.1:7/',
    secretKey: 'sk_test_a',
    publishableKey: 'pk_test_a',
    webhookSecret: 'whsec_a',
  },
  thirdParty: { url: 'http://127.0.0.1:9' },
  retention: { appId: 'app', apiKey: 'key', scriptUrl: 'http://127.0.0.1:7/js/app.js' },
  quotes: { url: 'http://127.0.0.1:8', key: 'quotes-key' },
  push: { url: 'http://127.0.0.1:10', appId: '5a9db0c5-0000-4000-8000-000000000000', key: 'push-key' },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commands-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the hash of a build’s sources', () => {
  it('changes with pages and the lock file, but not with tests or documentation', () => {
    mkdirSync(join(folder, 'src', 'pages'), { recursive: true });
    writeFileSync(join(folder, 'src', 'pages', 'a.astro'), 'one');
    writeFileSync(join(folder, 'package-lock.json'), '{}');
    const first = hashSources(folder);
    writeFileSync(join(folder, 'README.md'), 'read me');
    writeFileSync(join(folder, 'src', 'pages', 'a.test.ts'), 'test');
    expect(hashSources(folder)).toBe(first);
    const seen = new Set([first]);
    writeFileSync(join(folder, 'src', 'pages', 'a.astro'), 'two');
    seen.add(hashSources(folder));
    writeFileSync(join(folder, 'src', 'pages', 'b.astro'), '');
    seen.add(hashSources(folder));
    writeFileSync(join(folder, 'package-lock.json'), '{"a":1}');
    seen.add(hashSources(folder));
    expect(seen.size).toBe(4);
  });
});

describe('the environment of a build', () => {
  it('is a production environment, whatever the caller’s environment is', () => {
    // Vitest sets these; this process has them.
    for (const name of ['DEV', 'MODE', 'SSR', 'BASE_URL', 'VITEST']) expect(process.env[name], name).toBeDefined();
    const own = buildEnvironment({
      ...process.env,
      SITE: 'https://elsewhere.example',
      SITE_URL: 'https://paper.example',
    });
    for (const name of ['DEV', 'PROD', 'MODE', 'SSR', 'BASE_URL', 'SITE', 'ASSETS_PREFIX', 'VITEST', 'VITEST_MODE'])
      expect(own, name).not.toHaveProperty(name);
    expect(own).toMatchObject({ NODE_ENV: 'production', PATH: process.env.PATH, SITE_URL: 'https://paper.example' });
  });

  it('has the same Astro key for all builds of a checkout, unless the caller gives one', () => {
    const { ASTRO_KEY: key } = buildEnvironment({});
    expect(Buffer.from(String(key), 'base64')).toHaveLength(32);
    expect(buildEnvironment({}).ASTRO_KEY).toBe(key);
    expect(buildEnvironment({ ASTRO_KEY: 'given' }).ASTRO_KEY).toBe('given');
  });
});

describe('compressing a folder', () => {
  it('writes .br and .gz next to each text file that gets smaller, and to no other', async () => {
    const text = 'body { color: red }\n'.repeat(100);
    mkdirSync(join(folder, '_assets'));
    writeFileSync(join(folder, '_assets', 'a.css'), text);
    writeFileSync(join(folder, 'small.txt'), 'small');
    writeFileSync(join(folder, 'picture.png'), Buffer.alloc(4000));
    expect(await compressFolder(folder)).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(['_assets', 'picture.png', 'small.txt']);
    expect(brotliDecompressSync(readFileSync(join(folder, '_assets', 'a.css.br'))).toString()).toBe(text);
    expect(gunzipSync(readFileSync(join(folder, '_assets', 'a.css.gz'))).toString()).toBe(text);
  });
});

describe('finding a browser', () => {
  it('prefers CHROME_PATH, then Chromium to Chrome, on the PATH and in the usual folders', () => {
    const having =
      (...paths: string[]) =>
      (path: string) =>
        paths.includes(path);
    expect(
      findInstalled({ CHROME_PATH: '/x/chrome', PATH: '/usr/bin' }, having('/x/chrome', '/usr/bin/chromium')),
    ).toBe('/x/chrome');
    expect(findInstalled({ PATH: '/opt/bin' }, having('/opt/bin/google-chrome', '/usr/bin/chromium'))).toBe(
      '/usr/bin/chromium',
    );
    expect(findInstalled({ PATH: '/opt/bin' }, having('/opt/bin/google-chrome'))).toBe('/opt/bin/google-chrome');
    expect(findInstalled({}, having())).toBeNull();
    expect(() => findInstalled({ CHROME_PATH: '/gone' }, having('/usr/bin/chromium'))).toThrow(/CHROME_PATH is \/gone/);
  });

  it('uses the browser in BROADSHEET_TEST_BROWSER', () => {
    const chosen = { path: '/x', args: ['--y'] };
    expect(browserFromEnvironment({ BROADSHEET_TEST_BROWSER: JSON.stringify(chosen) })).toEqual(chosen);
  });
});

describe('the sandbox’s settings', () => {
  it('have default ports, and an error names an invalid one', () => {
    expect(sandboxPorts({})).toEqual({ wordpress: 8881, mailbox: 8882, stripe: 8883 });
    const given = { SANDBOX_WORDPRESS_PORT: ' 9000 ', SANDBOX_MAILBOX_PORT: '9001', SANDBOX_STRIPE_PORT: '9002' };
    expect(sandboxPorts(given)).toEqual({ wordpress: 9000, mailbox: 9001, stripe: 9002 });
    for (const text of ['0', '70000', 'x', '8881.5']) {
      expect(() => sandboxPorts({ SANDBOX_WORDPRESS_PORT: text })).toThrow(/SANDBOX_WORDPRESS_PORT is/);
      expect(() => sandboxPorts({ SANDBOX_MAILBOX_PORT: text })).toThrow(/SANDBOX_MAILBOX_PORT is/);
    }
  });

  it('point the site at the stand-in of each service that it has no settings for', () => {
    const site = sandboxEnvironment(access, {});
    expect(site).toMatchObject({
      WORDPRESS_URL: 'http://127.0.0.1:1',
      FRAME_HOSTS: '127.0.0.1:1',
      SMTP_URL: 'smtp://u:p@127.0.0.1:2',
      GOOGLE_ISSUER_URL: 'http://127.0.0.1:4',
      FACEBOOK_GRAPH_URL: 'http://127.0.0.1:5',
      EMAIL_VERIFIER: 'kickbox',
      EMAIL_VERIFIER_URL: 'http://127.0.0.1:6/v2/verify',
      STRIPE_API_URL: 'http://127.0.0.1:7',
      STRIPE_JS_URL: 'http://127.0.0.1:7/stripe.js',
      HEADLINE_TESTS: 'all',
    });
    // A publisher's own mail server keeps its own sender; the other settings are unaffected.
    const own = sandboxEnvironment(access, { SMTP_URL: 'smtps://mail.example.com', GOOGLE_CLIENT_ID: 'own' });
    for (const name of ['SMTP_URL', 'MAIL_FROM', 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', 'GOOGLE_ISSUER_URL']) {
      expect(own).not.toHaveProperty(name);
    }
    expect(own).toHaveProperty('FACEBOOK_CLIENT_ID');
    // Third parties only on request.
    expect(own).not.toHaveProperty('GTM_CONTAINER');
    expect(sandboxEnvironment(access, { SANDBOX_THIRD_PARTIES: 'on' }).GPT_SCRIPT_URL).toBe(
      'http://127.0.0.1:9/gpt/gpt.js',
    );
    expect(sandboxEnvironment(access, { FRAME_HOSTS: 'x.test' }).FRAME_HOSTS).toBe('x.test,127.0.0.1:1');
  });
});

describe('counting test results', () => {
  const file = (status: string, ...assertionResults: unknown[]) => ({ status, assertionResults });
  it('adds up the results of Vitest, Playwright and single checks', () => {
    const unit = countVitest({
      numPassedTests: 7,
      numFailedTests: 1,
      numPendingTests: 2,
      testResults: [file('failed', {}), file('passed', {})],
    });
    expect(unit).toEqual({ passed: 7, failed: 1, skipped: 2 });
    const browser = countPlaywright({ stats: { expected: 5, unexpected: 0, flaky: 1, skipped: 0 } });
    expect(browser).toEqual({ passed: 5, failed: 1, skipped: 0 });
    expect(sentence(sum([unit, browser, countCheck(true)]))).toBe('13 passed, 2 failed, 2 skipped');
    expect(sentence(sum([countCheck(true), countCheck(false)]))).toBe('1 passed, 1 failed');
  });

  it('counts a file that does not load, and an error outside of tests, as failures', () => {
    expect(
      countVitest({ numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, testResults: [file('failed')] }).failed,
    ).toBe(1);
    expect(countPlaywright({ stats: { expected: 3, unexpected: 0, flaky: 0, skipped: 0 }, errors: [{}] }).failed).toBe(
      1,
    );
  });

  it('lists the failed tests with their messages', () => {
    const test = (fullName: string, status: string, ...failureMessages: string[]) => ({
      fullName,
      status,
      failureMessages,
    });
    expect(
      failuresOfVitest({
        testResults: [
          {
            name: '/somewhere/src/lib/money.test.ts',
            status: 'failed',
            assertionResults: [test('money adds', 'failed', '\u001b[31mexpected 1\nto be 2'), test('money', 'passed')],
          },
          { name: '/somewhere/tests/x.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
        ],
      }),
    ).toEqual([
      'src/lib/money.test.ts › money adds\n    expected 1\n    to be 2',
      'tests/x.test.ts › could not be loaded\n    no such module',
    ]);
    const spec = (title: string, status: string, message?: string) => ({
      file: 'x.spec.ts',
      title,
      tests: [{ status, results: [message === undefined ? {} : { error: { message } }] }],
    });
    expect(
      failuresOfPlaywright({
        suites: [
          { suites: [{ specs: [spec('opens', 'unexpected', 'too slow')] }], specs: [spec('shuts', 'expected')] },
        ],
        errors: [{ message: 'no browser' }],
      }),
    ).toEqual(['x.spec.ts › opens\n    too slow', 'playwright › outside of a test\n    no browser']);
  });

  it('counts a run without tests, or with a failing exit code, as a failure', () => {
    expect(judge(0, null).failed).toBe(1);
    expect(judge(0, { passed: 0, failed: 0, skipped: 4 })).toEqual({ passed: 0, failed: 1, skipped: 4 });
    expect(judge(1, { passed: 4, failed: 0, skipped: 0 }).failed).toBe(1);
    expect(judge(0, { passed: 4, failed: 0, skipped: 0 })).toEqual({ passed: 4, failed: 0, skipped: 0 });
    expect(judge(1, { passed: 4, failed: 2, skipped: 0 }).failed).toBe(2);
  });

  it('repeats a runner’s error when it fails without a failed test', () => {
    const passed = Array.from({ length: 100 }, (_, at) => ` ✓ file ${at}`);
    const error = ['⎯⎯ \u001b[31mUnhandled Errors\u001b[39m ⎯⎯', 'Error: a worker ended', '    at pool.ts:1'];
    const told = failureOfOutput('unit', [...passed, ...error, ...passed]);
    expect(told.split('\n').slice(0, 3)).toEqual([
      'unit › without a failed test',
      '    ⎯⎯ Unhandled Errors ⎯⎯',
      '    Error: a worker ended',
    ]);
    expect(told.split('\n')).toHaveLength(41);
    expect(failureOfOutput('lint', passed).split('\n').slice(1)).toEqual(
      passed.slice(-40).map((line) => `    ${line}`),
    );
  });
});

describe('the lock file', () => {
  it.each(['package-lock.json', 'sandbox/package-lock.json'])(
    '%s contains the packages of every platform (scripts/complete-lock.mjs adds them)',
    (file) => {
      const lock = JSON.parse(readFileSync(file, 'utf8'));
      expect(missingOptional(lock.packages)).toEqual([]);
    },
  );

  it('lacks an optional package only if it is missing in every folder that Node.js searches', () => {
    const optionalDependencies = { '@x/linux-x64-musl': '^1.0.0' };
    const missing = [{ name: '@x/linux-x64-musl', version: '1.0.0', dev: false }];
    expect(missingOptional({ 'node_modules/x': { optionalDependencies } })).toEqual(missing);
    expect(
      missingOptional({ 'node_modules/x': { optionalDependencies }, 'node_modules/@x/linux-x64-musl': {} }),
    ).toEqual([]);
    expect(
      missingOptional({
        'node_modules/y/node_modules/x': { optionalDependencies },
        'node_modules/y/node_modules/@x/linux-x64-musl': {},
      }),
    ).toEqual([]);
    expect(
      missingOptional({
        'node_modules/x': { optionalDependencies },
        'node_modules/y/node_modules/@x/linux-x64-musl': {},
      }),
    ).toEqual(missing);
  });

  it('takes a package’s platform from the package’s name', () => {
    expect(machineOf('@x/linux-x64-musl')).toEqual({ os: ['linux'], cpu: ['x64'], libc: ['musl'] });
    expect(machineOf('@x/binding-linux-arm-gnueabihf')).toEqual({ os: ['linux'], cpu: ['arm'], libc: ['glibc'] });
    expect(machineOf('@x/win32-x64-msvc')).toEqual({ os: ['win32'], cpu: ['x64'] });
    expect(machineOf('x-wasm32-wasi')).toEqual({ cpu: ['wasm32'] });
  });
});

describe('the stripe:offer command', () => {
  const given = [
    '--plan',
    'reader-penny',
    '--next',
    'reader-yearly',
    '--days',
    '60',
    '--amount',
    '60',
    '--heading',
    'H',
  ];

  it('reads the offer from its options', () => {
    expect(readOffer([...given, '--also', 'gbp=60,eur=50'])).toEqual({
      plan: 'reader-penny',
      next: 'reader-yearly',
      days: 60,
      amount: 60,
      heading: 'H',
      subheading: null,
      others: { gbp: 60, eur: 50 },
    });
  });

  it.each([
    ['no plan', given.slice(2), /--plan/],
    ['a fraction as the number of days', given.map((one) => (one === '60' ? '0.60' : one)), /--days: a whole number/],
    ['a currency without an amount', [...given, '--also', 'gbp'], /"gbp" isn't of the form gbp=60/],
    ['zero days', given.map((one, at) => (at === 5 ? '0' : one)), /from 1 to 1095/],
    ['an unknown option', [...given, '--weeks', '2'], /--weeks/],
  ])('names the wrong option when given %s', (_, args, problem) => expect(() => readOffer(args)).toThrow(problem));
});
