import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createRecorder, redact } from './record.ts';

const folder = mkdtempSync(join(tmpdir(), 'recorded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('recording', () => {
  it('keeps the form of an exchange, and no key, secret or person', async () => {
    const secrets = ['sk_test_abcdef', 'pass/word@1'];
    const body = {
      id: 'cus_1',
      email: 'reader@example.com',
      object: 'customer',
      client_secret: 'pi_1_secret_2',
      shipping: { name: 'Ada Reader', address: { line1: '1 Main St', country: 'US', postal_code: '10001' } },
      description: 'for reader@example.com with sk_test_abcdef',
      next: 'https://api.example.com/?key=abc&page=2',
    };
    const recorder = createRecorder(
      async () => Response.json(body, { headers: { 'retry-after': '3', 'set-cookie': 'session=1' } }),
      secrets,
    );
    recorder.begin('stripe');
    const response = await recorder.fetch('https://api.example.com/v1/customers?token=tok_1&limit=3', {
      method: 'POST',
      headers: { authorization: 'Bearer sk_test_abcdef' },
      body: new URLSearchParams({ password: 'pass/word@1', limit: '3' }),
    });
    // The caller gets the answer as it came.
    expect(await response.json()).toEqual(body);

    const [file = ''] = recorder.save(folder);
    const text = readFileSync(file, 'utf8');
    for (const gone of ['reader', 'abcdef', 'Ada', 'Main', '10001', 'tok_1', 'key=abc', 'session', 'pass', 'secret_2'])
      expect(text).not.toContain(gone === 'pass' ? 'pass/word' : gone === 'reader' ? 'reader@' : gone);
    expect(JSON.parse(text)).toMatchObject({
      service: 'stripe',
      recorded: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      hosts: ['api.example.com'],
      exchanges: [
        {
          request: { method: 'POST' },
          response: { status: 200, headers: { 'retry-after': '3' }, body: { id: 'cus_1', object: 'customer' } },
        },
      ],
    });
  });

  it('leaves numbers, ids and the shape of lists alone', () => {
    const value = { id: 'in_1', amount: 1200, lines: [{ period: { start: 1 } }], paid: null, livemode: false };
    expect(redact(value, ['nothing'])).toEqual(value);
  });
});
