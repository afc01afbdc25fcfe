import { expect, it, vi } from 'vitest';
import type { Session } from '../accounts/service.ts';
import type { Billing } from '../billing/service.ts';
import { silent } from '../logging.ts';
import { switchPage } from './pages.server.ts';

it('a change of plan without JavaScript is charged and quoted with the reader’s network address, which limits count', async () => {
  const refused = { ok: false, status: 409, error: { message: 'The amount has changed.' } } as const;
  const switchPlan = vi.fn(async () => refused);
  const quote = vi.fn(async () => refused);
  const url = new URL('https://paper.example/account/plan?plan=member-yearly');
  const page = {
    url,
    request: new Request(url, {
      method: 'POST',
      headers: { origin: url.origin },
      body: new URLSearchParams({ expected: '1' }),
    }),
    clientAddress: '127.0.0.1',
    locals: {
      config: { siteUrl: url.origin },
      services: { log: silent },
      client: { address: '203.0.113.9', userAgent: null },
    },
  } as unknown as Parameters<typeof switchPage>[0];
  const reader = { userId: 'u' } as Session;
  const view = await switchPage(page, { switchPlan, quote } as unknown as Billing, reader, 'member-yearly');
  expect(view).toMatchObject({ problem: refused.error.message, status: 409 });
  expect(switchPlan).toHaveBeenCalledWith(reader, expect.anything(), '203.0.113.9');
  expect(quote).toHaveBeenCalledWith(reader, { planId: 'member-yearly' }, '203.0.113.9');
});
