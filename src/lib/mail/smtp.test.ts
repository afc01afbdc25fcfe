/** The transport against the sandbox's mail server, over SMTP. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Mailbox, type MailboxOptions, startMailbox } from '../../../sandbox/mailbox/mailbox.ts';
import type { StoredMessage } from '../../../sandbox/mailbox/store.ts';
import { classify, type MailTransport, openTransport, type SmtpSettings } from './smtp.server.ts';

let mailbox: Mailbox;
let transports: MailTransport[];
beforeEach(async () => {
  mailbox = await startMailbox();
  transports = [];
});
afterEach(async () => {
  for (const transport of transports) transport.close();
  await mailbox.stop();
});

function transport(change: Partial<SmtpSettings> = {}): MailTransport {
  const url = new URL(mailbox.access.smtpUrl);
  const auth = { user: url.username, password: url.password };
  const secure = url.protocol === 'smtps:';
  const smtp = { host: url.hostname, port: Number(url.port), secure, auth, ...change };
  const opened = openTransport(
    {
      smtp,
      from: { name: 'The Sun, daily', address: 'news@sun.example' },
      replyTo: { name: '', address: 'desk@sun.example' },
    },
    2,
  );
  transports.push(opened);
  return opened;
}
const message = { subject: 'Hëllo', html: '<p>Hello</p>', text: 'Hello\n' };
const send = (by: MailTransport, to = 'ada@example.com', change = {}, id = 'm1') =>
  by.send(id, to, { ...message, ...change }, new AbortController().signal);
const fail = (failure: object) =>
  fetch(`${mailbox.access.url}/api/failure`, { method: 'PUT', body: JSON.stringify(failure) });
const letters = async () =>
  ((await (await fetch(`${mailbox.access.url}/api/messages`)).json()) as { messages: StoredMessage[] }).messages;

describe('an email sent over SMTP', () => {
  it('has the headers of an automatic message', async () => {
    expect(await send(transport())).toEqual({ kind: 'sent' });
    const [letter] = await letters();
    expect(letter).toMatchObject({
      envelope: { from: 'news@sun.example', to: ['ada@example.com'] },
      from: 'The Sun, daily <news@sun.example>',
      to: ['ada@example.com'],
      subject: 'Hëllo',
      text: expect.stringContaining('Hello'),
      html: expect.stringContaining('<p>Hello</p>'),
    });
    const header = (name: string) => letter?.headers.find((one) => one.name === name)?.value;
    expect(header('Auto-Submitted')).toBe('auto-generated');
    expect(header('Reply-To')).toBe('desk@sun.example');
    expect(header('Message-ID')).toBe('<m1@sun.example>');
    expect(header('List-Unsubscribe')).toBeUndefined();
    expect(header('Date')).toBeDefined();
  });

  it('has the Reply-To address that the message names', async () => {
    await send(transport(), 'desk@sun.example', { replyTo: { name: 'Ada', address: 'ada@example.com' } });
    const [letter] = await letters();
    expect(letter?.headers.find(({ name }) => name === 'Reply-To')?.value).toBe('Ada <ada@example.com>');
  });

  it('is sent without signing in if no password is set', async () => {
    expect(await send(transport({ auth: null }))).toEqual({ kind: 'sent' });
  });

  it('gets no extra header or recipient from a subject with line breaks', async () => {
    const by = transport();
    await send(by, 'ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com\r\nX-Evil: 1' });
    const [letter] = await letters();
    expect(letter?.envelope.to).toEqual(['ada@example.com']);
    expect(letter?.headers.map(({ name }) => name)).not.toContain('X-Evil');
    expect(letter?.subject).toBe('Hello Bcc: eve@example.com X-Evil: 1');
  });
});

describe('the SMTP transport', () => {
  it('reports whether a refusal is permanent or temporary', async () => {
    const by = transport();
    await fail({ mode: 'permanent' });
    expect(await send(by)).toEqual({ kind: 'refused', detail: '550 5.1.1' });
    await fail({ mode: 'temporary' });
    expect(await send(by)).toEqual({ kind: 'later', detail: '451 4.3.0', limited: false });
    await fail({ mode: 'none' });
    expect(await send(by)).toEqual({ kind: 'sent' });
  });

  it('reports an unreachable server, a dropped connection and a wrong password as “down”', async () => {
    const by = transport();
    await fail({ mode: 'refuse' });
    expect(await send(by)).toEqual({
      kind: 'down',
      problem: expect.stringContaining('see that it runs and that SMTP_URL is right'),
    });
    await fail({ mode: 'drop', times: 1 });
    expect(await send(by)).toMatchObject({ kind: 'down' });
    expect(await send(by)).toEqual({ kind: 'sent' });
    expect(await letters()).toHaveLength(1);
    expect(await send(transport({ auth: { user: 'newspaper', password: 'wrong' } }))).toEqual({
      kind: 'down',
      problem: expect.stringMatching(/refuses the user or the password \(535 5\.7\.8\): see SMTP_URL/),
    });
  });

  it('sends again after the server went away with a connection open and came back', async () => {
    const by = transport();
    expect(await send(by)).toEqual({ kind: 'sent' });
    await fail({ mode: 'refuse' });
    expect(await send(by)).toMatchObject({ kind: 'down' });
    await fail({ mode: 'none' });
    expect(await send(by)).toEqual({ kind: 'sent' });
  });

  it('stops sending to a slow server when it is aborted', async () => {
    await fail({ mode: 'slow', delay: 60_000 });
    const by = transport();
    const stop = new AbortController();
    const sending = by.send('m1', 'ada@example.com', message, stop.signal);
    stop.abort();
    expect(await sending).toMatchObject({ kind: 'down' });
    expect(await letters()).toHaveLength(0);
  });

  it('reports that a message can be sent later when the account’s sending limit is reached', async () => {
    const by = transport();
    await fail({ mode: 'quota', times: 1 });
    expect(await send(by)).toEqual({ kind: 'later', detail: '550 5.4.5', limited: true });
    await fail({ mode: 'policy', times: 1 });
    expect(await send(by)).toEqual({ kind: 'later', detail: '554 5.7.1', limited: true });
    expect(await send(by)).toEqual({ kind: 'sent' });
  });

  it('sends nothing over an unencrypted connection to another machine', async () => {
    const by = transport({ host: anotherName });
    expect(await send(by)).toEqual({ kind: 'down', problem: expect.stringContaining('cannot be encrypted') });
    expect(await letters()).toHaveLength(0);
  });
});

/** Another name of 127.0.0.1, which the transport doesn't recognize as this machine, so that it insists on encryption. */
const anotherName = '0x7f000001';

describe('a vendor’s mail server that requires encryption and a password', () => {
  const trusted = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(trusted));
  async function vendor(options: MailboxOptions): Promise<void> {
    await mailbox.stop();
    mailbox = await startMailbox({ login: 'required', ...options });
  }
  const trust = () => setDefaultCACertificates([...trusted, mailbox.certificate ?? '']);

  it.each(['starttls', 'tls'] as const)('accepts mail over %s', async (encryption) => {
    await vendor({ encryption });
    trust();
    expect(await send(transport({ host: 'localhost' }))).toEqual({ kind: 'sent' });
    expect(await letters()).toMatchObject([{ encrypted: true, subject: 'Hëllo' }]);
  });

  it('gets no mail if its certificate is from an unknown authority', async () => {
    await vendor({ encryption: 'starttls' });
    const by = transport({ host: 'localhost' });
    expect(await send(by)).toEqual({ kind: 'down', problem: expect.stringContaining('certificate') });
    expect(await letters()).toHaveLength(0);
  });

  it('refuses mail without a user, and the problem names the setting SMTP_URL', async () => {
    await vendor({ encryption: 'starttls' });
    trust();
    const by = transport({ host: 'localhost', auth: null });
    expect(await send(by)).toEqual({
      kind: 'down',
      problem: expect.stringMatching(/wants a user and a password \(530.*SMTP_URL/),
    });
  });
});

describe('an SMTP error', () => {
  it.each([
    [
      { code: 'EENVELOPE', command: 'MAIL FROM', responseCode: 550, response: '550 5.7.1 no' },
      'down',
      /refuses the sender \(550 5\.7\.1\): see MAIL_FROM/,
    ],
    [
      { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 421, response: '421 4.3.2 closing' },
      'down',
      /421 4\.3\.2/,
    ],
    [
      { code: 'EENVELOPE', command: 'MAIL FROM', responseCode: 550, response: '550 5.4.5 Daily quota exceeded' },
      'down',
      /accepts no more for now \(550 5\.4\.5\)/,
    ],
    [
      { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 503, response: '503 5.5.1 first MAIL' },
      'down',
      /503 5\.5\.1/,
    ],
    [{ code: 'ETLS' }, 'down', /cannot be encrypted/],
    [{ code: 'EDNS' }, 'down', /name is not found/],
    [{ code: 'ETIMEDOUT' }, 'down', /ETIMEDOUT/],
  ])('means that the mail server is down: %j', (error, kind, problem) => {
    expect(classify(Object.assign(new Error('no'), error))).toEqual({ kind, problem: expect.stringMatching(problem) });
  });

  it.each([
    ['550 Daily sending quota exceeded', 'later'],
    ['552 5.2.2 The mailbox is over its quota', 'refused'],
    ['550 5.1.1 Rate this: there is no such mailbox', 'refused'],
    ['554 5.6.0 The message is too large', 'refused'],
    ['451 4.7.1 Greylisted, try again', 'later'],
  ])('for one recipient, “%s”, is reported as “%s”', (response, kind) => {
    const error = { code: 'EENVELOPE', command: 'RCPT TO', responseCode: Number(response.slice(0, 3)), response };
    expect(classify(Object.assign(new Error('no'), error)).kind).toBe(kind);
  });

  it('is reported without the server’s text, which may contain an address', () => {
    const error = {
      code: 'EENVELOPE',
      command: 'RCPT TO',
      responseCode: 550,
      response: '550 <ada@example.com> unknown',
    };
    expect(classify(Object.assign(new Error('no'), error))).toEqual({ kind: 'refused', detail: '550' });
  });
});
