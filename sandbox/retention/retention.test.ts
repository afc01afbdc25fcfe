import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { startRetention } from './retention.ts';

it('the retention widget’s stand-in reports a fault unless the hash is that of the customer with the API key', async () => {
  const retention = await startRetention();
  try {
    const { apiKey, scriptUrl } = retention.access;
    const open = async (authHash: string) => {
      const what = { what: 'show', options: { customerId: 'cus_1', authHash }, handlers: [] };
      await fetch(new URL(`/_sandbox/report?${new URLSearchParams({ what: JSON.stringify(what) })}`, scriptUrl));
      return retention.reports.map((report) => report.what);
    };
    expect(await open(createHmac('sha256', apiKey).update('cus_1').digest('hex'))).toEqual(['show']);
    expect(await open('abc')).toEqual(['show', 'show', 'fault']);
  } finally {
    await retention.stop();
  }
});
