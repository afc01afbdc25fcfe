import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Mailbox, startMailbox } from './mailbox.ts';
import type { StoredMessage } from './store.ts';

let running: Mailbox[] = [];
afterEach(async () => {
  await Promise.all(running.map((mailbox) => mailbox.stop()));
  running = [];
});

async function mailbox(folder?: string) {
  const started = await startMailbox({ folder });
  running.push(started);
  const { url, smtpUrl } = started.access;
  const ask = (place: string, init?: RequestInit) => fetch(`${url}${place}`, init);
  return {
    started,
    ask,
    port: Number(new URL(smtpUrl).port),
    fail: (failure: object) => ask('/api/failure', { method: 'PUT', body: JSON.stringify(failure) }),
    letters: async (query = '') =>
      ((await (await ask(`/api/messages${query}`)).json()) as { messages: StoredMessage[] }).messages,
  };
}

/** Speaks SMTP line by line. @returns the server's replies; the last is `closed` if the server closed the connection */
async function speak(port: number, lines: readonly string[]): Promise<string[]> {
  const socket = net.connect(port, '127.0.0.1');
  const replies: string[] = [];
  let text = '';
  let onReply: (reply: string) => void = () => {};
  const ended: string[] = [];
  socket.on('data', (data) => {
    text += data;
    const match = /(?:^|\n)(\d{3} [^\r\n]*)\r\n$/.exec(text);
    if (!match) return;
    text = '';
    onReply(match[1] ?? '');
  });
  for (const event of ['error', 'close']) {
    socket.on(event, () => {
      ended.push('closed');
      onReply('closed');
    });
  }
  const reply = () =>
    new Promise<string>((resolve) => {
      if (ended.length > 0) resolve('closed');
      onReply = resolve;
    });
  replies.push(await reply());
  for (const line of lines) {
    if (replies.at(-1) === 'closed') break;
    const next = reply();
    socket.write(`${line}\r\n`);
    replies.push(await next);
  }
  socket.destroy();
  return replies;
}

const letter = (to: string, subject = 'Hello') => [
  'EHLO test',
  'MAIL FROM:<paper@sun.test>',
  `RCPT TO:<${to}>`,
  'DATA',
  [
    'From: "The Sun" <paper@sun.test>',
    `To: <${to}>`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Open https://sun.test/link?a=1 now',
    '--x',
    'Content-Type: text/html; charset=utf-8',
    '',
    '<p>Open <a href="https://sun.test/link?a=1&amp;b=2">it</a><script>alert(1)</script></p>',
    '--x--',
    '.',
  ].join('\r\n'),
];
const codes = (replies: readonly string[]) => replies.map((reply) => reply.split(' ')[0]);

describe('messages to the mailbox', () => {
  it('are accepted with the right password or none, and parsed', async () => {
    const { port, letters } = await mailbox();
    expect(codes(await speak(port, letter('ann@example.com')))).toEqual(['220', '250', '250', '250', '354', '250']);
    const auth = `AUTH PLAIN ${Buffer.from('\0newspaper\0letterbox').toString('base64')}`;
    const [first, ...rest] = letter('Ben@example.com', '=?utf-8?Q?Caf=C3=A9?=');
    expect(codes(await speak(port, [first ?? '', auth, ...rest])).at(2)).toBe('235');
    const wrong = `AUTH PLAIN ${Buffer.from('\0newspaper\0wrong').toString('base64')}`;
    expect(codes(await speak(port, ['EHLO test', wrong])).at(2)).toBe('535');

    const all = await letters();
    expect(all.map(({ envelope }) => envelope.to)).toEqual([['Ben@example.com'], ['ann@example.com']]);
    expect(all[0]).toMatchObject({
      number: 2,
      subject: 'Café',
      from: 'The Sun <paper@sun.test>',
      links: ['https://sun.test/link?a=1&b=2'],
      text: expect.stringContaining('Open https://sun.test/link?a=1 now'),
      raw: expect.stringContaining('multipart/alternative; boundary=x'),
    });
    expect(await letters('?to=ben@EXAMPLE.com')).toHaveLength(1);
    expect(await letters('?to=nobody@example.com')).toEqual([]);
  });

  it('can be waited for, and deleted by recipient', async () => {
    const { port, ask, letters } = await mailbox();
    const waiting = ask('/api/messages?to=ann@example.com&wait=20000');
    await speak(port, letter('ben@example.com'));
    await speak(port, letter('ann@example.com', 'First'));
    expect(((await (await waiting).json()) as StoredMessage).subject).toBe('First');
    expect((await ask('/api/messages?to=ann@example.com&after=2&wait=10')).status).toBe(204);
    expect(await (await ask('/api/messages?to=ann@example.com', { method: 'DELETE' })).json()).toEqual({ removed: 1 });
    expect(await letters()).toHaveLength(1);
  });

  it('survive a restart when stored in a folder, and their numbering continues', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mailbox-'));
    const first = await mailbox(folder);
    await speak(first.port, letter('ann@example.com'));
    await first.started.stop();
    const second = await mailbox(folder);
    await speak(second.port, letter('ann@example.com'));
    expect((await second.letters()).map(({ number }) => number)).toEqual([2, 1]);
    fs.rmSync(folder, { recursive: true });
  });
});

describe('the mailbox page', () => {
  it('lists the messages and shows each as HTML, text, headers and source', async () => {
    const { port, ask } = await mailbox();
    expect(await (await ask('/')).text()).toContain('No message has arrived yet.');
    await speak(port, letter('ann@example.com', 'A <b>bold</b> one'));
    const page = async (place: string) => (await ask(place)).text();
    expect(await page('/')).toContain('A &#60;b&#62;bold&#60;/b&#62; one');
    expect(await page('/messages/1')).toContain('src="/messages/1/html"');
    expect(await page('/messages/1?view=text')).toContain('<a href="https://sun.test/link?a=1"');
    expect(await page('/messages/1?view=headers')).toContain('Content-Type');
    expect(await page('/messages/1?view=raw')).toContain('boundary=x');
    expect((await ask('/messages/7')).status).toBe(404);
    const frame = await ask('/messages/1/html');
    expect(frame.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const file of ['/reader.css', '/reader.js']) expect((await ask(file)).status).toBe(200);
  });
});

describe('the simulated SMTP failure', () => {
  const to = 'ann@example.com';
  it.each([
    ['temporary', ['220', '250', '250', '451']],
    ['permanent', ['220', '250', '250', '550']],
  ])('in the mode “%s” refuses the recipient until it is turned off', async (mode, expected) => {
    const { port, fail, letters } = await mailbox();
    expect((await fail({ mode })).status).toBe(200);
    expect(codes(await speak(port, letter(to).slice(0, 3)))).toEqual(expected);
    await fail({ mode: 'none' });
    await speak(port, letter(to));
    expect(await letters()).toHaveLength(1);
  });

  it('can drop a message, or its acknowledgment, a given number of times', async () => {
    const { port, fail, letters } = await mailbox();
    await fail({ mode: 'drop', times: 1 });
    expect((await speak(port, letter(to))).at(-1)).toBe('closed');
    expect(await letters()).toHaveLength(0);
    await fail({ mode: 'lost-answer', times: 1 });
    expect((await speak(port, letter(to))).at(-1)).toBe('closed');
    expect(await letters()).toHaveLength(1);
    expect(codes(await speak(port, letter(to))).at(-1)).toBe('250');
  });

  it('can be limited to some recipients', async () => {
    const { port, fail } = await mailbox();
    await fail({ mode: 'permanent', to: 'Ben@' });
    expect(codes(await speak(port, letter('ben@example.com').slice(0, 3))).at(-1)).toBe('550');
    expect(codes(await speak(port, letter(to))).at(-1)).toBe('250');
  });

  it('can refuse connections, and accepts them again on the same port', async () => {
    const { port, fail, ask } = await mailbox();
    await fail({ mode: 'refuse' });
    expect(await speak(port, [])).toEqual(['closed']);
    expect(await (await ask('/api/failure')).json()).toEqual({ mode: 'refuse' });
    await fail({ mode: 'none' });
    expect(codes(await speak(port, letter(to))).at(-1)).toBe('250');
  });

  it('can slow down the answers, and refuse the password', async () => {
    const { port, fail, letters } = await mailbox();
    await fail({ mode: 'slow', delay: 20 });
    expect(codes(await speak(port, letter(to))).at(-1)).toBe('250');
    expect(await letters()).toHaveLength(1);
    await fail({ mode: 'auth' });
    const auth = `AUTH PLAIN ${Buffer.from('\0newspaper\0letterbox').toString('base64')}`;
    expect(codes(await speak(port, ['EHLO test', auth])).at(2)).toBe('535');
  });

  it('is rejected with 400 and a reason when its settings are invalid', async () => {
    const { fail } = await mailbox();
    for (const failure of [{}, { mode: 'x' }, { mode: 'slow', delay: -1 }, { mode: 'drop', to: 1 }]) {
      const answer = await fail(failure);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ error: expect.any(String) });
    }
  });
});

it('the mailbox names the setting to change when its port is taken', async () => {
  const { started } = await mailbox();
  await expect(startMailbox({ port: Number(new URL(started.access.url).port) })).rejects.toMatchObject({
    message: expect.stringContaining("the sandbox's mailbox needs it"),
    hint: expect.stringContaining('SANDBOX_MAILBOX_PORT'),
  });
});
