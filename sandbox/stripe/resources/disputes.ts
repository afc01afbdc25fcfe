/**
 * Disputes, and the responses to them. The texts that decide a dispute are those of Stripe's test mode
 * (docs.stripe.com/testing).
 */
import { endDispute, reviewDispute } from '../payments/disputes.ts';
import { get, matching, page, post, type Route } from './route.ts';

export const disputes: Route[] = [
  get('/v1/disputes', ({ account, params }) => {
    const own = matching(account.store.all('dispute'), 'charge', params.text('charge'));
    return page(params, '/v1/disputes', matching(own, 'payment_intent', params.text('payment_intent')));
  }),
  get('/v1/disputes/:id', ({ account, id }) => account.need('dispute', id)),
  post('/v1/disputes/:id', ({ account, params, id }) => {
    params.allow('expand');
    const dispute = account.need('dispute', id);
    const submit = params.bool('submit') ?? true;
    const evidence = params.object('evidence');
    const text = evidence?.text('uncategorized_text') ?? null;
    evidence?.allow('customer_communication', 'product_description', 'service_date', 'receipt', 'access_activity_log');
    account.store.touch(dispute);
    dispute.metadata = params.metadata(dispute.metadata);
    if (!evidence) return dispute;
    dispute.evidence = { ...dispute.evidence, uncategorized_text: text };
    if (!submit) return dispute;
    if (text === 'winning_evidence' || text === 'losing_evidence') {
      endDispute(account, dispute, text === 'winning_evidence');
    } else reviewDispute(account, dispute);
    return dispute;
  }),
  post('/v1/disputes/:id/close', ({ account, params, id }) => {
    params.allow('expand');
    const dispute = account.need('dispute', id);
    endDispute(account, dispute, false);
    return dispute;
  }),
];
