/**
 * The Reporting API, which browsers use only over https: reports of what the policy blocks arrive in batches, and an operator sees
 * them.
 */
import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type APIRequestContext, chromium } from '@playwright/test';
import { makeCertificate } from '../../sandbox/mailbox/certificate.ts';
import { browserFromEnvironment } from '../../scripts/browser.ts';
import { freePort } from '../../scripts/setup/ports.mjs';
import { type OwnSite, startOwnSite } from '../world/own-site.ts';
import { expect, test } from '../world/readers.ts';
import { operatorToken } from '../world/world.ts';

interface Received {
  readonly type: string;
  readonly reports: readonly { readonly type: string }[];
}

/** A page that isn't the site's, which shows whether this browser sends reports at all. */
const probe = { page: '/probe', reports: '/probe-reports' } as const;

let site: OwnSite;
let proxy: Server;
let publicUrl: string;
const received: Received[] = [];
let probed = false;

test.beforeAll(async () => {
  test.setTimeout(600_000);
  const port = await freePort();
  publicUrl = `https://127.0.0.1:${port}`;
  site = await startOwnSite({ SITE_URL: publicUrl, OPERATOR_TOKEN: operatorToken });
  const { certificate: cert, key } = makeCertificate(['localhost']);
  proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    if (url === probe.page) {
      outgoing.setHeader('content-type', 'text/html');
      outgoing.setHeader('reporting-endpoints', `probe="${probe.reports}"`);
      outgoing.setHeader('content-security-policy', "script-src 'none'; report-to probe");
      return void outgoing.end('<script src="https://vendor.example/probe.js"></script>');
    }
    if (url === probe.reports) {
      probed = true;
      return void outgoing.writeHead(204).end();
    }
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const body = Buffer.concat(parts);
      if (url === '/-/csp-reports')
        received.push({ type: String(headers['content-type']), reports: JSON.parse(body.toString()) as [] });
      const passed = httpRequest(new URL(url ?? '/', site.site), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      // The site may end while the browser still sends something.
      passed.on('error', () => outgoing.destroy());
      passed.end(body);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
});
test.afterAll(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await site?.stop();
});

/** Expects the operators' page to show what was blocked on /about, without the addresses' details. */
async function expectShown(request: APIRequestContext, origin: string): Promise<void> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const operators = async () => (await request.get(`${site.site}/-/press`, { headers })).text();
  await expect.poll(operators, { timeout: 30_000 }).toContain(origin);
  const text = await operators();
  expect(text).toMatch(/script-src-elem[\s\S]{0,40}\/about/);
  expect(text).not.toMatch(/tag\.js|reader=ann/);
}

test('Chromium blocks a foreign script; its report, if the build sends any, is shown to operators without the full URL', async ({
  request,
}) => {
  const found = browserFromEnvironment(process.env);
  const browser = await chromium.launch({
    // Otherwise reports are delayed by a minute.
    args: [...found.args, '--short-reporting-delay', '--ignore-certificate-errors'],
    ...(found.path && { executablePath: found.path }),
  });
  try {
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    await page.goto(`${publicUrl}${probe.page}`);
    const sends = await expect
      .poll(() => probed, { timeout: 10_000 })
      .toBe(true)
      .then(
        () => true,
        () => false,
      );
    await page.goto(`${publicUrl}/about?reader=ann`);
    const blocked = page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener('securitypolicyviolation', ({ effectiveDirective, disposition, blockedURI }) =>
            resolve([effectiveDirective, disposition, blockedURI]),
          );
          const script = document.createElement('script');
          script.src = 'https://vendor.example/tag.js?reader=ann';
          document.head.append(script);
        }),
    );
    expect(await blocked).toEqual(['script-src-elem', 'enforce', 'https://vendor.example/tag.js?reader=ann']);
    // The headless shell sends no reports from version 156 on.
    if (!sends) return;
    await expect.poll(() => received.length).toBeGreaterThan(0);
    await expectShown(request, 'https://vendor.example');
    expect(received.map(({ type }) => type)).toContain('application/reports+json');
    expect(received.flatMap(({ reports }) => reports.map(({ type }) => type))).toContain('csp-violation');
  } finally {
    await browser.close();
  }
});

test('a page’s policy names an endpoint, and a report posted there appears on the operators’ page, without the full URL', async ({
  request,
}) => {
  const headers = (await request.get(`${site.site}/about`)).headers();
  const [, name, path] = /^(\w+)="([^"]+)"$/.exec(headers['reporting-endpoints'] ?? '') ?? [];
  expect(headers['content-security-policy']).toMatch(new RegExp(`(?:^|; ?)report-to ${name}(?:;|$)`));
  const documentURL = `${publicUrl}/about?reader=ann`;
  // As the Reporting API sends it (W3C Reporting, CSP Level 3).
  const report = {
    type: 'csp-violation',
    age: 10,
    url: documentURL,
    user_agent: 'Chromium',
    body: {
      documentURL,
      blockedURL: 'https://posted.example/tag.js?reader=ann',
      effectiveDirective: 'script-src-elem',
      disposition: 'enforce',
    },
  };
  const posted = await request.post(`${site.site}${path}`, {
    headers: { 'content-type': 'application/reports+json' },
    data: JSON.stringify([report]),
  });
  expect(posted.status()).toBe(204);
  await expectShown(request, 'https://posted.example');
});
