import { describe, expect, it } from 'vitest';
import { openFixture } from '../testing.ts';
import { checkAnswer } from './answers.ts';
import { difference } from './check.ts';
import { api } from './read.ts';

describe('an answer of the Stripe stand-in', () => {
  it('is checked against the SDK’s type declarations', async () => {
    const fixture = await openFixture();
    const customer = JSON.parse(JSON.stringify(await fixture.createPayingCustomer())) as Record<string, unknown>;
    const call = 'GET /v1/customers/:id';
    const given = (more: object) => () => checkAnswer(call, { ...customer, ...more }, { browser: false });
    expect(given({})).not.toThrow();
    expect(given({ livemode: undefined })).toThrow(/livemode/);
    expect(given({ balance: '12' })).toThrow(/balance/);
    expect(given({ banana: 1 })).toThrow(/banana/);
    expect(given({ tax_exempt: 'perhaps' })).toThrow(/tax_exempt/);
    await fixture.stop();
  });

  it('that Stripe would not send makes stopping the sandbox fail', async () => {
    const fixture = await openFixture();
    const { id } = await fixture.createPayingCustomer();
    const stored = fixture.state.account.need('customer', id);
    delete stored.livemode;
    await expect(fixture.stripe.customers.retrieve(id)).rejects.toThrow();
    await expect(fixture.stop()).rejects.toThrow(/livemode/);
  });

  it('that fits none of several shapes is compared with the closest one', () => {
    const shape = { any: ['null', { ref: 'Subscription.PauseCollection' }] } as const;
    expect(difference(null, shape, { shapes: api.shapes })).toBeNull();
    expect(difference({ behavior: 'void', resumes_at: null }, shape, { shapes: api.shapes })).toBeNull();
    expect(difference({ behavior: 'nap', resumes_at: null }, shape, { shapes: api.shapes }, 'pause')).toMatch(
      /behavior/,
    );
  });
});
