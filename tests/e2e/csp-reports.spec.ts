/**
 * The Reporting API, which browsers use only over https: reports of what the policy blocks arrive in batches, and an operator
 * sees it.
 */
import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import { chromium } from '@playwright/test';
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

let site: OwnSite;
let proxy: Server;
let publicUrl: string;
const received: Received[] = [];

test.beforeAll(async () => {
  test.setTimeout(600_000);
  const port = await freePort();
  publicUrl = `https://127.0.0.1:${port}`;
  site = await startOwnSite({ SITE_URL: publicUrl, OPERATOR_TOKEN: operatorToken });
  const { certificate: cert, key } = makeCertificate(['localhost']);
  proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
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

test('a Reporting API report of a blocked script appears on the operators’ page, without the full URL', async ({
  request,
}) => {
  const found = browserFromEnvironment(process.env);
  const browser = await chromium.launch({
    // Otherwise reports are delayed by a minute.
    args: [...found.args, '--short-reporting-delay', '--ignore-certificate-errors'],
    ...(found.path && { executablePath: found.path }),
  });
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    const answer = await page.goto(`${publicUrl}/about?reader=ann`);
    const endpoint = /^csp="([^"]+)"$/.exec(answer?.headers()['reporting-endpoints'] ?? '')?.[1];
    expect(endpoint).toBeDefined();
    const body = await page.evaluate(
      () =>
        new Promise<Record<string, unknown>>((resolve) => {
          addEventListener('securitypolicyviolation', (violation) => {
            const { documentURI: documentURL, blockedURI: blockedURL, effectiveDirective, disposition } = violation;
            resolve({ documentURL, blockedURL, effectiveDirective, disposition });
          });
          const script = document.createElement('script');
          script.src = 'https://vendor.example/tag.js?reader=ann';
          document.head.append(script);
        }),
    );
    // Some builds of Chromium (the headless shell from 156 on) send no report: then the test sends the violation that the browser saw
    // as a report.
    const sent = await expect
      .poll(() => received.length, { timeout: 10_000 })
      .toBeGreaterThan(0)
      .then(
        () => true,
        () => false,
      );
    if (!sent) {
      const report = { type: 'csp-violation', age: 10, url: body.documentURL, user_agent: 'Chromium', body };
      const posted = await context.request.post(new URL(endpoint ?? '', publicUrl).href, {
        headers: { 'content-type': 'application/reports+json' },
        data: JSON.stringify([report]),
      });
      expect(posted.status()).toBe(204);
    }
    const headers = { authorization: `Bearer ${operatorToken}` };
    const operators = async () => (await request.get(`${site.site}/-/press`, { headers })).text();
    await expect.poll(operators, { timeout: 30_000 }).toContain('https://vendor.example');
    const text = await operators();
    expect(text).toMatch(/script-src-elem[\s\S]{0,40}\/about/);
    expect(text).not.toMatch(/tag\.js|reader=ann/);
  } finally {
    await browser.close();
  }
  expect(received.map(({ type }) => type)).toContain('application/reports+json');
  expect(received.flatMap(({ reports }) => reports.map(({ type }) => type))).toContain('csp-violation');
});
