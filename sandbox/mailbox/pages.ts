/** The mailbox's pages: a list next to the open message, which work without JavaScript. */
import { html, type Route, escapeHtml as safe, text } from '../web.ts';
import { filterFrom } from './api.ts';
import { type Failure, failureModes } from './failure.ts';
import type { MailServer } from './smtp.ts';
import type { MessageStore, StoredMessage } from './store.ts';

const views = { message: 'Message', text: 'Plain text', headers: 'Headers', raw: 'Source' } as const;
type View = keyof typeof views;

/** The page loads only from this origin; messages are in separate frames with a stricter policy. */
const pagePolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/** A message runs no scripts and loads nothing; its links open in another tab. */
const framePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

export function pages(messages: MessageStore, mail: MailServer): Route[] {
  const page = (url: URL, open: StoredMessage | undefined, view: View, status = 200) =>
    html(pageHtml(messages, mail.failure, url, open, view), status, { 'content-security-policy': pagePolicy });
  return [
    {
      method: 'GET',
      path: /^\/$/,
      handle: ({ url }) => page(url, undefined, 'message'),
    },
    {
      method: 'GET',
      path: /^\/messages\/(\d+)$/,
      handle({ url, groups: [number] }) {
        const message = messages.get(Number(number));
        const view = url.searchParams.get('view') ?? '';
        return page(url, message, Object.hasOwn(views, view) ? (view as View) : 'message', message ? 200 : 404);
      },
    },
    {
      method: 'GET',
      path: /^\/messages\/(\d+)\/html$/,
      handle({ groups: [number] }) {
        const message = messages.get(Number(number));
        if (!message?.html) return text('There is no such message, or it has no HTML part.\n', 404);
        return html(`<base target="_blank">${message.html}`, 200, { 'content-security-policy': framePolicy });
      },
    },
  ];
}

function pageHtml(
  messages: MessageStore,
  failure: Failure,
  url: URL,
  open: StoredMessage | undefined,
  view: View,
): string {
  const { to } = filterFrom(url);
  const shown = messages.list({ to });
  const isMissing = !open && url.pathname !== '/';
  return `<!doctype html>
<html lang="en" data-last="${messages.last}"${open || isMissing ? ' class="reading"' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${open ? `${safe(open.subject)} · ` : ''}Mailbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/reader.css">
<script type="module" src="/reader.js"></script>
</head>
<body>
<header class="bar">
<a class="name" href="/">Mailbox</a>
<p class="about">All mail that the site sends arrives here, to any address.</p>
<form class="search" action="/" role="search">
<label for="to">To</label><input id="to" name="to" type="search" value="${safe(to ?? '')}" placeholder="any address" autocomplete="off" spellcheck="false">
</form>
</header>
<div class="panes">
<nav class="list" aria-label="Messages">
<div id="messages">${list(shown, to, open)}</div>
${controls(failure, shown.length, to)}
</nav>
<main class="message">${open ? messageHtml(open, view, to) : placeholderHtml(isMissing)}</main>
</div>
</body>
</html>`;
}

function list(messages: readonly StoredMessage[], to: string | undefined, open: StoredMessage | undefined): string {
  if (messages.length === 0)
    return `<p class="none">${to ? `Nothing for ${safe(to)} yet.` : 'No message has arrived yet.'}</p>`;
  const items = messages.map(
    (message) => `<li><a href="${hrefOf(message, to)}"${message === open ? ' aria-current="page"' : ''}>
<span class="who">${safe(message.envelope.to.join(', '))}</span>
<time datetime="${new Date(message.receivedAt).toISOString()}">${clock(message.receivedAt)}</time>
<strong class="subject">${safe(message.subject) || '(no subject)'}</strong>
<span class="snippet">${safe(message.text.replace(/\s+/g, ' ').slice(0, 120))}</span>
</a></li>`,
  );
  return `<ol>${items.join('')}</ol>`;
}

const hrefOf = ({ number }: StoredMessage, to: string | undefined, view?: string): string => {
  const query = new URLSearchParams({ ...(view && { view }), ...(to && { to }) });
  return `/messages/${number}${query.size > 0 ? `?${safe(String(query))}` : ''}`;
};

function messageHtml(message: StoredMessage, view: View, to: string | undefined): string {
  const tabs = Object.entries(views).map(
    ([name, label]) =>
      `<a class="tab" href="${hrefOf(message, to, name)}"${name === view ? ' aria-current="page"' : ''}>${label}</a>`,
  );
  return `<a class="back" href="/${to ? `?to=${encodeURIComponent(to)}` : ''}">← All messages</a>
<h1>${safe(message.subject) || '(no subject)'}</h1>
<dl>
<div><dt>From</dt><dd>${safe(message.from)}</dd></div>
<div><dt>To</dt><dd>${safe((message.to.length > 0 ? message.to : message.envelope.to).join(', '))}</dd></div>
<div><dt>Received</dt><dd><time datetime="${new Date(message.receivedAt).toISOString()}">${new Date(message.receivedAt).toLocaleString('en-US', { dateStyle: 'long', timeStyle: 'medium' })}</time></dd></div>
</dl>
<div class="tabs">${tabs.join('')}</div>
${bodyHtml(message, view)}`;
}

function bodyHtml(message: StoredMessage, view: View): string {
  if (view === 'raw') return `<pre>${safe(message.raw)}</pre>`;
  if (view === 'headers') {
    const rows = message.headers.map(
      ({ name, value }) => `<tr><th scope="row">${safe(name)}</th><td>${safe(value)}</td></tr>`,
    );
    return `<table class="headers">${rows.join('')}</table>`;
  }
  if (view === 'text' || !message.html) {
    if (!message.text) return '<p class="none">This message has no plain-text part.</p>';
    return `<pre class="plain">${safe(message.text).replace(/https?:\/\/[^\s<]+/g, '<a href="$&" target="_blank" rel="noopener">$&</a>')}</pre>`;
  }
  // Scripts stay off; the page may access the frame only to measure the message's height.
  return `<iframe title="Message" src="/messages/${message.number}/html" sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"></iframe>`;
}

const placeholderHtml = (isMissing: boolean): string =>
  isMissing
    ? '<p class="none">There is no such message. <a href="/">All messages</a></p>'
    : '<p class="none">Choose a message to read it.</p>';

function controls(failure: Failure, count: number, to: string | undefined): string {
  const options = Object.entries(failureModes).map(
    ([mode, label]) => `<option value="${mode}"${mode === failure.mode ? ' selected' : ''}>${label}</option>`,
  );
  const limits = [failure.to && `to ${safe(failure.to)}`, failure.times && `${failure.times} more messages`].filter(
    Boolean,
  );
  return `<div class="controls" data-failing="${failure.mode !== 'none'}">
<label for="failure">Mail server</label>
<select id="failure">${options.join('')}</select>
${limits.length > 0 ? `<p>${limits.join(', ')}</p>` : ''}
<button type="button" id="clear" data-to="${safe(to ?? '')}"${count === 0 ? ' disabled' : ''}>Delete ${to ? 'these messages' : 'all messages'}</button>
</div>`;
}

const clock = (moment: number): string =>
  new Date(moment).toLocaleTimeString('en-US', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });
