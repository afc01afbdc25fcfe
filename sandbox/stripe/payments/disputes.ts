/**
 * Payments that a cardholder disputes at the bank (docs.stripe.com/disputes). The money is withdrawn when a dispute is opened, and
 * returned when it is won; an inquiry moves no money.
 */

import type { StripeAccount } from '../core/account.ts';
import { invalid } from '../core/errors.ts';
import type { Charge, Dispute } from '../core/model.ts';

export type DisputeReason = 'fraudulent' | 'product_not_received' | 'inquiry';

/** Seconds in which the publisher can respond. */
const responseSeconds = 9 * 86_400;

/** Empty evidence. */
const noEvidence = {
  ...Object.fromEntries(
    [
      ...['access_activity_log', 'billing_address', 'cancellation_policy', 'cancellation_policy_disclosure'],
      ...['cancellation_rebuttal', 'customer_communication', 'customer_email_address', 'customer_name'],
      ...['customer_purchase_ip', 'customer_signature', 'duplicate_charge_documentation'],
      ...['duplicate_charge_explanation', 'duplicate_charge_id', 'product_description', 'receipt', 'refund_policy'],
      ...['refund_policy_disclosure', 'refund_refusal_explanation', 'service_date', 'service_documentation'],
      ...['shipping_address', 'shipping_carrier', 'shipping_date', 'shipping_documentation'],
      ...['shipping_tracking_number', 'uncategorized_file', 'uncategorized_text'],
    ].map((name) => [name, null]),
  ),
  enhanced_evidence: {},
};

const closedStatuses = ['won', 'lost', 'warning_closed'];

/** A charge's open or lost dispute; with one, the charge can't be refunded. */
export const blocksRefund = (account: StripeAccount, charge: Charge): boolean =>
  [...account.store.all('dispute')].some(
    (dispute) => dispute.charge === charge.id && !dispute.is_charge_refundable && dispute.status !== 'won',
  );

/** @throws {ApiError} 400 if the charge can't be disputed */
export function openDispute(account: StripeAccount, charge: Charge, reason: DisputeReason = 'fraudulent'): Dispute {
  if (charge.status !== 'succeeded' || charge.refunded) throw invalid(`Charge ${charge.id} has nothing to dispute.`);
  if (charge.disputed) throw invalid(`Charge ${charge.id} is disputed already.`);
  const inquiry = reason === 'inquiry';
  const customer = charge.customer ? account.store.find('customer', charge.customer) : null;
  const now = account.now(customer);
  const dispute = account.add(
    'dispute',
    {
      object: 'dispute',
      amount: charge.amount,
      balance_transactions: [],
      charge: charge.id,
      currency: charge.currency,
      enhanced_eligibility_types: [],
      evidence: { ...noEvidence },
      evidence_details: {
        due_by: now + responseSeconds,
        enhanced_eligibility: {},
        has_evidence: false,
        past_due: false,
        submission_count: 0,
        submission_method: 'not_submitted',
      },
      intended_submission_method: null,
      is_charge_refundable: inquiry,
      livemode: false,
      metadata: {},
      network_reason_code: '10.4',
      payment_intent: charge.payment_intent,
      payment_method_details: {
        card: {
          brand: 'visa',
          case_type: inquiry ? 'inquiry' : 'chargeback',
          network: 'visa',
          network_reason_code: '10.4',
        },
        type: 'card',
      },
      reason: inquiry ? 'general' : reason,
      status: inquiry ? 'warning_needs_response' : 'needs_response',
    } as Omit<Dispute, 'id'>,
    customer,
  );
  account.store.touch(charge);
  charge.disputed = true;
  account.emit('charge.dispute.created', dispute);
  if (!inquiry) account.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** After the publisher has responded: the bank reviews the dispute. */
export function reviewDispute(account: StripeAccount, dispute: Dispute): void {
  checkNotClosed(dispute);
  account.store.touch(dispute);
  dispute.status = dispute.is_charge_refundable ? 'warning_under_review' : 'under_review';
  dispute.evidence_details = { ...dispute.evidence_details, has_evidence: true, submission_count: 1 };
  account.emit('charge.dispute.updated', dispute);
}

/** The bank turns its inquiry into a dispute: the amount is withdrawn, and no refund is possible. */
export function escalateInquiry(account: StripeAccount, dispute: Dispute): void {
  checkNotClosed(dispute);
  if (!dispute.is_charge_refundable) throw invalid('Only an inquiry can become a dispute.');
  account.store.touch(dispute);
  dispute.is_charge_refundable = false;
  dispute.status = 'needs_response';
  dispute.reason = 'fraudulent';
  account.emit('charge.dispute.updated', dispute);
  account.emit('charge.dispute.funds_withdrawn', dispute);
}

/** Applies the bank's decision. An inquiry is closed without a winner. */
export function endDispute(account: StripeAccount, dispute: Dispute, won: boolean): void {
  checkNotClosed(dispute);
  account.store.touch(dispute);
  const inquiry = dispute.is_charge_refundable;
  dispute.status = inquiry ? 'warning_closed' : won ? 'won' : 'lost';
  if (won && !inquiry) account.emit('charge.dispute.funds_reinstated', dispute);
  account.emit('charge.dispute.closed', dispute);
}

function checkNotClosed({ status }: Dispute): void {
  if (closedStatuses.includes(status)) throw invalid(`This dispute is over: its status is ${status}.`);
}
