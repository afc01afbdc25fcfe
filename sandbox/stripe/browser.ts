/** Serves browsers: the script, the frames of the elements, and the bank's challenge. */
import fs from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { escapeHtml as safe } from '../web.ts';
import { money } from './billing/calendar.ts';
import type { RequestHandler } from './controls.ts';
import { ApiError } from './core/errors.ts';
import type { PaymentIntent, SetupIntent } from './core/model.ts';
import type { StripeState } from './state.ts';
import { walletsOf } from './wallets.ts';

const folder = path.join(import.meta.dirname, 'browser');
const read = (name: string): string => fs.readFileSync(path.join(folder, name), 'utf8');

/** Files of the script, dependencies first. */
const scriptParts = ['calls.js', 'checks.js', 'element.js', 'express.js', 'elements.js', 'challenge.js', 'main.js'];

/** One classic script, so that `window.Stripe` is there as soon as it has loaded. */
export const script = (): string =>
  `(() => {\n'use strict';\n${[schema(), ...scriptParts.map(read)]
    .map((source) => source.replace(/^import [^;]*;$/gm, '').replace(/^export /gm, ''))
    .join('\n')}})();\n`;

/** The declarations of Stripe.js and the code that compares values with them. */
const schema = (): string => {
  const of = (name: string) => fs.readFileSync(path.join(import.meta.dirname, 'schema', name), 'utf8');
  return `const declared = ${of('stripe-js.json')};\n${stripTypeScriptTypes(of('check.ts'))}`;
};

const frames: Readonly<Record<string, string>> = {
  payment: 'payment-frame.js',
  card: 'payment-frame.js',
  address: 'address-frame.js',
  linkAuthentication: 'link-frame.js',
  expressCheckout: 'express-frame.js',
  walletSheet: 'sheet-frame.js',
};

/** Frames run only this origin's scripts, and any site's page may embed them. */
const framePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'";

const text = (body: string, type: string): Response =>
  new Response(body, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-cache' } });
const html = (body: string): Response =>
  new Response(body, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': framePolicy,
    },
  });

const page = (title: string, head: string, body: string, attributes = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(title)}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body${attributes}>
${body}
</body>
</html>`;

export function browserFiles(state: StripeState): RequestHandler {
  const { account } = state;

  const intentOf = (id: string): PaymentIntent | SetupIntent | undefined =>
    account.store.find('payment_intent', id) ?? account.store.find('setup_intent', id);

  const challengePage = (intent: PaymentIntent | SetupIntent, ticket: string): string => {
    const amount = intent.object === 'payment_intent' ? money(Number(intent.amount), String(intent.currency)) : null;
    return page(
      'Bank authentication',
      '<link rel="stylesheet" href="/browser/challenge.css">',
      `<h1>3D Secure test</h1>
<p>${amount ? `The sandbox's bank asks you to authenticate a payment of ${safe(amount)}.` : "The sandbox's bank asks you to authenticate this card for later payments."}</p>
<form method="post"><input type="hidden" name="ticket" value="${safe(ticket)}">
<button name="outcome" value="pass" autofocus>Complete</button>
<button name="outcome" value="fail">Fail</button>
</form>`,
    );
  };

  const answeredPage = (intent: PaymentIntent | SetupIntent | undefined): string => {
    const returnUrl = typeof intent?._returnUrl === 'string' ? new URL(intent._returnUrl) : null;
    if (intent && returnUrl) {
      returnUrl.searchParams.set(intent.object, intent.id);
      returnUrl.searchParams.set(`${intent.object}_client_secret`, intent.client_secret);
      returnUrl.searchParams.set('redirect_status', intent.status === 'succeeded' ? 'succeeded' : 'failed');
    }
    return page(
      'Authentication finished',
      '<link rel="stylesheet" href="/browser/challenge.css"><script type="module" src="/browser/answered.js"></script>',
      `<p>The authentication is finished.${returnUrl ? ` <a href="${safe(returnUrl.href)}">Continue</a>` : ''}</p>`,
      returnUrl ? ` data-return-url="${safe(returnUrl.href)}"` : '',
    );
  };

  async function challenge(request: Request, url: URL, id: string): Promise<Response> {
    const intent = intentOf(id);
    const form = request.method === 'POST' ? new URLSearchParams(await request.text()) : null;
    const ticket = form?.get('ticket') ?? url.searchParams.get('ticket') ?? '';
    if (intent?.status !== 'requires_action' || intent._challenge !== ticket) return html(answeredPage(intent));
    if (!form) return html(challengePage(intent, ticket));
    try {
      state.finishChallenge(id, form.get('outcome') === 'pass');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    return html(answeredPage(intent));
  }

  return async (request, url) => {
    if (url.pathname === '/stripe.js') return text(script(), 'text/javascript');
    if (url.pathname === '/elements/wallets') {
      const types = (url.searchParams.get('types') ?? '').split(',').filter(Boolean);
      return Response.json(walletsOf(state.account, url.searchParams.get('domain') ?? '', types));
    }
    const frame = /^\/elements\/(\w+)$/.exec(url.pathname)?.[1] ?? '';
    if (Object.hasOwn(frames, frame)) {
      const head = `<link rel="stylesheet" href="/browser/frame.css"><script type="module" src="/browser/${frames[frame]}"></script>`;
      return html(page('Secure input', head, '<form id="form" novalidate></form>'));
    }
    const file = /^\/browser\/([a-z-]+\.(css|js))$/.exec(url.pathname);
    if (file?.[1] && fs.existsSync(path.join(folder, file[1]))) {
      return text(read(file[1]), file[2] === 'css' ? 'text/css' : 'text/javascript');
    }
    const intentId = /^\/challenge\/((?:pi|seti)_\w+)$/.exec(url.pathname)?.[1];
    return intentId ? challenge(request, url, intentId) : null;
  };
}
