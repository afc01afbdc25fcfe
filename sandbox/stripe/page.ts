/** The stand-in for Stripe's Dashboard: payments, webhooks and the clock. It works without JavaScript. */
import fs from 'node:fs';
import path from 'node:path';
import { escapeHtml as safe } from '../web.ts';
import { actions } from './actions.ts';
import { day } from './billing/calendar.ts';
import type { RequestHandler } from './controls.ts';
import type { StripeState } from './state.ts';
import { actionButton, type View, views } from './views.ts';
import type { Webhooks } from './webhooks.ts';

const policy =
  "default-src 'self'; img-src data:; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const moment = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString('en-US', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });

function clockControls(state: StripeState): string {
  const offset = state.account.clockOffset();
  const jumps = [
    [1, 'A day'],
    [15, '15 days'],
    [60, '60 days'],
    [365, 'A year'],
  ] as const;
  return `<section aria-labelledby="clock"><h2 id="clock">Clock</h2>
<p><time datetime="${new Date(state.now() * 1000).toISOString()}">${moment(state.now())} UTC</time></p>
<p class="soft">${offset === 0 ? 'The real time.' : `${Math.round(offset / day)} days ahead of the real time.`} Moving it renews subscriptions, charges invoices and retries payments.</p>
<div class="buttons">${jumps.map(([days, label]) => actionButton('clock', label, { days: String(days) })).join('')}
${state.lifecycle.nextRenewal() === null ? '' : actionButton('clock', 'To the next renewal', { to: 'next-renewal' })}</div>
</section>`;
}

function webhookControls(webhooks: Webhooks | null): string {
  if (!webhooks) return '<section><h2>Webhooks</h2><p class="soft">No site receives events.</p></section>';
  const { mode, delay, copies, shuffle, lose } = webhooks.settings;
  const number = (name: string, label: string, value: number, more: string) =>
    `<label>${label}<input name="${name}" type="number" value="${value}" min="0" ${more}></label>`;
  return `<section aria-labelledby="hooks"><h2 id="hooks">Webhooks</h2>
<form class="hooks" method="post" action="/page/webhooks">
<label>Events are <select name="mode"><option value="on"${mode === 'on' ? ' selected' : ''}>sent</option><option value="off"${mode === 'off' ? ' selected' : ''}>lost</option></select></label>
${number('delay', 'Delay (ms)', delay, 'step="1"')}
${number('copies', 'Copies of each event', copies, 'step="1" max="5"')}
${number('shuffle', 'Random extra delay, up to (ms)', shuffle, 'step="1"')}
${number('lose', 'Share of lost events', lose, 'step="0.05" max="1"')}
<button>Save</button>
</form>
<p class="soft">${webhooks.waiting()} events are waiting.</p>
<div class="buttons">${actionButton('flush', 'Send now')}${actionButton('resend', 'Resend lost and failed events')}</div>
</section>`;
}

function renderPage(state: StripeState, webhooks: Webhooks | null, view: View, message: string | null): string {
  const tabs = Object.entries(views).map(
    ([name, { label }]) =>
      `<a class="tab" href="/?view=${name}"${views[name as keyof typeof views] === view ? ' aria-current="page"' : ''}>${label}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${view.label} · Stripe</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/page.css">
</head>
<body>
<header class="bar">
<a class="name" href="/">Stripe</a>
<p class="about">The sandbox's stand-in: no real money is charged. Test card 4242 4242 4242 4242, any future date, any CVC.</p>
</header>
<div class="panes">
<aside class="controls" aria-label="Controls">
${clockControls(state)}
${webhookControls(webhooks)}
<section><h2>Reset</h2><div class="buttons">${actionButton('reset', 'Delete all data')}</div></section>
</aside>
<main>
<nav class="tabs" aria-label="Views">${tabs.join('')}</nav>
<h1>${view.label}</h1>
${message ? `<p class="message" role="status">${safe(message)}</p>` : ''}
${view.show(state, webhooks)}
</main>
</div>
</body>
</html>`;
}

export function dashboardPage(state: StripeState, webhooks: Webhooks | null): RequestHandler {
  const perform = actions(state, webhooks);
  return async (request, url) => {
    if (url.pathname === '/page/page.css') {
      const css = fs.readFileSync(path.join(import.meta.dirname, 'page', 'page.css'), 'utf8');
      return new Response(css, { headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' } });
    }
    if (request.method === 'POST' && url.pathname.startsWith('/page/')) {
      // Only this page may submit its forms.
      const from = request.headers.get('sec-fetch-site');
      if (from !== null && from !== 'same-origin')
        return new Response('Only this page may submit its forms.\n', { status: 403 });
      const { view, message } = await perform(url.pathname.slice(6), new URLSearchParams(await request.text()));
      const back = new URLSearchParams({ view, ...(message && { message }) });
      return new Response(null, { status: 303, headers: { location: `/?${back}` } });
    }
    if (url.pathname !== '/' || request.method !== 'GET') return null;
    state.lifecycle.runDueTasks();
    const name = url.searchParams.get('view') ?? '';
    const view = Object.hasOwn(views, name) ? views[name as keyof typeof views] : views.customers;
    return new Response(renderPage(state, webhooks, view, url.searchParams.get('message')), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policy,
        'referrer-policy': 'same-origin',
      },
    });
  };
}
