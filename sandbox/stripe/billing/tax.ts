/**
 * Stripe Tax, for a publisher registered in New York and the United Kingdom: 8.25 % on top in New York, by the ZIP code, 20 %
 * included in the price in the United Kingdom, and no tax anywhere else.
 */
import { invalid } from '../core/errors.ts';
import type { Customer, Invoice } from '../core/model.ts';

interface Address {
  readonly country?: string | null;
  readonly postal_code?: string | null;
}
interface Rate {
  readonly id: string;
  /** Basis points: hundredths of a percent. */
  readonly rate: number;
  readonly behavior: 'exclusive' | 'inclusive';
}

const addressOf = ({ shipping, address }: Customer): Address =>
  (shipping as { address?: Address } | null)?.address ?? (address as Address | null) ?? {};

/** Whether the tax can be computed: in the United States it needs a ZIP code. */
function hasTaxLocation(customer: Customer): boolean {
  const { country, postal_code: code } = addressOf(customer);
  return Boolean(country) && (country !== 'US' || /^\d{5}(?:-\d{4})?$/.test(code ?? ''));
}

/** @throws {ApiError} 400 if the tax can't be computed */
export function checkTaxLocation(customer: Customer, param = 'automatic_tax'): void {
  if (hasTaxLocation(customer)) return;
  throw invalid(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    param,
    'customer_tax_location_invalid',
  );
}

function rateOf(customer: Customer): Rate | null {
  const { country, postal_code: code } = addressOf(customer);
  if (country === 'US' && /^1[0-4]/.test(code ?? '')) return { id: 'txr_new_york', rate: 825, behavior: 'exclusive' };
  if (country === 'GB') return { id: 'txr_united_kingdom', rate: 2000, behavior: 'inclusive' };
  return null;
}

/** Adds tax to the total of an invoice. */
export function addTax(invoice: Invoice, customer: Customer): void {
  const status = hasTaxLocation(customer) ? 'complete' : 'requires_location_inputs';
  invoice.automatic_tax = {
    disabled_reason: null,
    enabled: true,
    liability: { type: 'self' },
    provider: 'stripe',
    status,
  };
  const rate = status === 'complete' ? rateOf(customer) : null;
  invoice.total_taxes = [];
  if (!rate) return;
  const { rate: basisPoints, behavior } = rate;
  const base = invoice.total;
  const amount = Math.round(
    behavior === 'exclusive' ? (base * basisPoints) / 10_000 : (base * basisPoints) / (10_000 + basisPoints),
  );
  const taxable = behavior === 'exclusive' ? base : base - amount;
  invoice.total_taxes = [
    {
      amount,
      tax_behavior: behavior,
      tax_rate_details: { tax_rate: rate.id },
      taxability_reason: 'standard_rated',
      taxable_amount: taxable,
      type: 'tax_rate_details',
    },
  ];
  if (behavior === 'exclusive') invoice.total = base + amount;
  invoice.total_excluding_tax = taxable;
}
