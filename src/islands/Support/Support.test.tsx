// @vitest-environment jsdom
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { button, click, type Drawn, draw, field, named, settle, submit, type } from '../shared/testing.tsx';
import Support from './Support.island.tsx';

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>();
let drawn: Drawn;
const form = () => document.querySelector('form') as HTMLFormElement;
const alerts = () =>
  [...document.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent).filter(Boolean);
const known = { name: 'Ada Whitlock', email: 'ada@example.com', phone: '+12125550183' };
const message = () => named<HTMLTextAreaElement>('textarea', 'Message');
async function write(text: string): Promise<void> {
  await act(async () => {
    message().value = text;
  });
}

beforeEach(() => {
  fetched.mockReset();
  vi.stubGlobal('fetch', fetched);
});
afterEach(async () => {
  await drawn.remove();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it('the support form is a plain form that shows typed values and errors, and a thank-you once sent', async () => {
  drawn = await draw(<Support inline stamp="s" values={{ name: 'Ada' }} errors={{ email: 'Please.' }} problem="No." />);
  expect([form().getAttribute('action'), form().method]).toEqual(['/contact', 'post']);
  expect([...new FormData(form()).keys()]).toEqual(['name', 'email', 'phone', 'message', 'website', 'stamp']);
  expect([field('Name').value, field('Name').required, message().required]).toEqual(['Ada', true, true]);
  expect(alerts()).toEqual(['No.', 'Please.']);
  await drawn.remove();
  drawn = await draw(<Support inline sent stamp="s" values={{}} />);
  expect(drawn.host.textContent).toBe('Thank you. We’ve received your message, and a person will answer it.');
});

it('the support dialog shows whether support is online, and updates it every minute', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  vi.setSystemTime('2026-11-20T21:59:30Z');
  drawn = await draw(<Support stamp="s" values={known} />);
  expect(named('a', 'Premium Support').getAttribute('href')).toBe('/contact');
  await click(named('a', 'Premium Support'));
  const sheet = document.querySelector('dialog');
  expect(sheet?.textContent).toContain('How can we help?');
  expect(sheet?.textContent).toContain('Online weekdays 9 a.m. to 5 p.m. ET');
  expect(sheet?.textContent).toContain('We’re online now');
  expect(field('Email').value).toBe('ada@example.com');
  await act(async () => vi.advanceTimersByTime(60_000));
  expect(sheet?.textContent).toContain('We’re offline until Monday');
  await click(button('Close'));
  await settle(() => expect(document.querySelector('dialog')).toBeNull());
});

it('the support dialog keeps an unsent message when it is closed, and drops a sent one', async () => {
  drawn = await draw(<Support stamp="s" values={known} />);
  await click(named('a', 'Premium Support'));
  await type(field('Name'), 'Adele');
  await act(async () => {
    message().value = 'Where is my paper?';
    message().dispatchEvent(new Event('input', { bubbles: true }));
  });
  await click(button('Close'));
  await settle(() => expect(document.querySelector('dialog')).toBeNull());
  await click(named('a', 'Premium Support'));
  expect([field('Name').value, field('Email').value, message().value]).toEqual([
    ...['Adele', 'ada@example.com', 'Where is my paper?'],
  ]);
  fetched.mockImplementation(async () => Response.json({ message: 'ok' }));
  await submit(form());
  await vi.waitFor(() => expect(document.querySelector('form')).toBeNull());
  await click(button('Close'));
  await settle(() => expect(document.querySelector('dialog')).toBeNull());
  await click(named('a', 'Premium Support'));
  expect([field('Name').value, message().value]).toEqual(['Ada Whitlock', '']);
});

/** Sends a message and closes the sheet before the answer. @returns a function that sends the answer */
async function closeWhileSending(): Promise<(answer: Response) => Promise<void>> {
  drawn = await draw(<Support stamp="s" values={known} />);
  await click(named('a', 'Premium Support'));
  await write('Where is my paper?');
  await act(async () => void message().dispatchEvent(new Event('input', { bubbles: true })));
  const gate = Promise.withResolvers<Response>();
  fetched.mockReturnValue(gate.promise);
  await submit(form());
  await click(button('Close'));
  await settle(() => expect(document.querySelector('dialog')).toBeNull());
  return (answer) => act(async () => gate.resolve(answer));
}
const result = () => drawn.host.querySelector('[role="status"]')?.textContent;

it('a message sent from a dialog that was closed is reported below the button, and the next starts empty', async () => {
  const answer = await closeWhileSending();
  expect(result()).toBe('');
  await answer(Response.json({ message: 'ok' }));
  await vi.waitFor(() => expect(result()).toBe('Thank you. We’ve received your message, and a person will answer it.'));
  await click(named('a', 'Premium Support'));
  expect([message().value, result()]).toEqual(['', '']);
});

it('a message that fails after its dialog was closed is reported below the button and kept', async () => {
  const answer = await closeWhileSending();
  await answer(Response.json({}, { status: 503 }));
  const failed = 'There was an error submitting your message. Please try again.';
  await vi.waitFor(() => expect(result()).toBe(failed));
  await click(named('a', 'Premium Support'));
  expect([message().value, alerts()]).toEqual(['Where is my paper?', [failed]]);
});

it('a message being sent is not sent twice when its dialog is opened again', async () => {
  const answer = await closeWhileSending();
  await click(named('a', 'Premium Support'));
  expect([message().value, button('Sending…').getAttribute('aria-disabled')]).toEqual(['Where is my paper?', 'true']);
  await submit(form());
  await answer(Response.json({ message: 'ok' }));
  await vi.waitFor(() => expect(document.querySelector('form')).toBeNull());
  expect(fetched).toHaveBeenCalledOnce();
});

it('the support form requires a message, sends it once, and is replaced by a status line', async () => {
  drawn = await draw(<Support inline stamp="stamp-1" values={known} />);
  await submit(form());
  expect(alerts()).toEqual(['Please tell us how we can help.']);
  expect(document.activeElement).toBe(message());
  await write('Where is my paper?');
  const gate = Promise.withResolvers<Response>();
  fetched.mockReturnValue(gate.promise);
  await submit(form());
  await submit(form());
  expect(button('Sending…').getAttribute('aria-disabled')).toBe('true');
  await act(async () => gate.resolve(Response.json({ message: 'ok' })));
  await vi.waitFor(() => expect(document.querySelector('form')).toBeNull());
  expect(fetched).toHaveBeenCalledOnce();
  const [path, init] = fetched.mock.calls[0] ?? [];
  expect([path, init?.method]).toEqual(['/api/forms/support', 'POST']);
  expect(JSON.parse(String(init?.body))).toEqual({
    ...known,
    message: 'Where is my paper?',
    website: '',
    stamp: 'stamp-1',
  });
  expect(document.activeElement?.getAttribute('role')).toBe('status');
});

it.each([
  ['a server error', 503],
  ['a missing connection', 0],
])('the support form shows the error of spec section 8 for %s, and keeps what was typed', async (_what, status) => {
  drawn = await draw(<Support inline stamp="s" values={known} />);
  await type(field('Name'), 'Adele');
  await write('Where is my paper?');
  fetched.mockImplementation(async () => {
    if (status === 0) throw new TypeError('offline');
    return Response.json({ message: 'stack' }, { status });
  });
  await submit(form());
  await vi.waitFor(() => expect(alerts()).toEqual(['There was an error submitting your message. Please try again.']));
  expect([field('Name').value, message().value]).toEqual(['Adele', 'Where is my paper?']);
});
